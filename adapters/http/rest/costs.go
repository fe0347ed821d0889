package rest

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/instant"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/inbound"
)

type costs struct{ port inbound.Costs }

// Costs handles the operations on costs.
func Costs(port inbound.Costs) httpkit.Handlers {
	h := costs{port}
	return httpkit.Handlers{
		"getCompanyCosts": h.report(budget.OfCompany, ""),
		"getTeamCosts":    h.report(budget.OfTeam, "team"),
		"getAgentCosts":   h.report(budget.OfAgent, "agent"),
		"getProjectCosts": h.report(budget.OfProject, "project"),
		"getIssueCosts":   h.report(budget.OfIssue, "issue"),
		"getRunCosts":     h.report(budget.OfRun, "run"),
		"forecastCosts":   h.forecast,
		"listCostEntries": h.entries,
		"exportCosts":     h.export,
		"adjustCost":      h.adjust,
	}
}

// report handles the report of a scope, whose id or slug is a parameter of the path.
func (h costs) report(scope budget.Scope, parameter string) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) {
		query := r.Query()
		found, err := h.port.Report(r.Context(), r.Caller(), inbound.CostsOf{
			Company: companyOf(r), Scope: scope, ID: r.Path(parameter), Since: query["since"], Until: query["until"],
		})
		if err != nil {
			return httpkit.Answer{}, err
		}
		return httpkit.Answer{Data: found.Fields()}, nil
	}
}

func (h costs) forecast(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Forecast(r.Context(), r.Caller(), companyOf(r))
	return httpkit.Answer{Data: found.Fields()}, err
}

func costList(r httpkit.Request) inbound.CostList {
	query := r.Query()
	return inbound.CostList{
		Company: companyOf(r), Team: query["team"], Agent: query["agent"], Project: query["project"], Issue: query["issue"],
		Run: query["run"], Kind: cost.Kind(query["kind"]), Since: query["since"], Until: query["until"],
	}
}

func (h costs) entries(r httpkit.Request) (httpkit.Answer, error) {
	list := costList(r)
	bound := "costs of=" + string(list.Company) + " " + r.Query().Filters()
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[cost.Entry], error) {
		return h.port.Entries(r.Context(), r.Caller(), list, after, size)
	})
}

func (h costs) adjust(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[CostAdjustment](r)
	draft := cost.AdjustmentDraft{Entry: sent.EntryID, USD: sent.Usd, Reason: sent.Reason, Problems: problems}
	answer := func(made cost.Entry) httpkit.Answer { return httpkit.Answer{Data: made.Fields()} }
	made, err := h.port.Adjust(r.Context(), r.Caller(), companyOf(r), draft, httpkit.Once(r, answer))
	return answer(made), err
}

func (h costs) export(r httpkit.Request) (httpkit.Answer, error) {
	after := r.Query()["after"]
	export, err := h.port.Export(r.Context(), r.Caller(), costList(r), after)
	if err != nil {
		return httpkit.Answer{}, err
	}
	feed := &httpkit.Feed{MediaType: "application/x-ndjson"}
	spell := costLines
	if r.Query()["format"] == "csv" {
		feed.MediaType, spell = "text/csv; charset=utf-8", costRows
		if after == "" {
			feed.Head = costHead
		}
	}
	feed.Write = func(write func(portion []byte) error) error {
		var text []byte
		return export(func(entries []cost.Entry) error {
			text = spell(text[:0], entries)
			return write(text)
		})
	}
	return httpkit.Answer{Feed: feed}, nil
}

// costLines appends entries to text, a JSON object in each line.
func costLines(text []byte, entries []cost.Entry) []byte {
	for _, e := range entries {
		text = append(e.Fields().Append(text), '\n')
	}
	return text
}

// costColumns are the columns of entries in CSV.
var costColumns = []struct {
	name string
	of   func(e *cost.Entry) string
}{
	{"id", func(e *cost.Entry) string { return string(e.ID) }},
	{"at", func(e *cost.Entry) string { return instant.Format(e.At) }},
	{"key", func(e *cost.Entry) string { return text.Cell(e.Key) }},
	{"kind", func(e *cost.Entry) string { return string(e.Kind) }},
	{"usd", func(e *cost.Entry) string { return e.USD.String() }},
	{"model", func(e *cost.Entry) string { return text.Cell(e.Model) }},
	{"inputTokens", func(e *cost.Entry) string { return strconv.FormatInt(e.Tokens.Input, 10) }},
	{"outputTokens", func(e *cost.Entry) string { return strconv.FormatInt(e.Tokens.Output, 10) }},
	{"cacheReadTokens", func(e *cost.Entry) string { return strconv.FormatInt(e.Tokens.CacheRead, 10) }},
	{"cacheWriteTokens", func(e *cost.Entry) string { return strconv.FormatInt(e.Tokens.CacheWrite, 10) }},
	{"calls", func(e *cost.Entry) string { return strconv.FormatInt(e.Calls, 10) }},
	{"unpriced", func(e *cost.Entry) string { return strconv.FormatBool(e.Unpriced) }},
	{"late", func(e *cost.Entry) string { return strconv.FormatBool(e.Late) }},
	{"billing", func(e *cost.Entry) string { return text.Cell(e.Billing) }},
	{"revision", func(e *cost.Entry) string { return numberOrEmpty(e.Revision) }},
	{"runId", func(e *cost.Entry) string { return string(e.Run) }},
	{"issueId", func(e *cost.Entry) string { return string(e.Issue) }},
	{"agentId", func(e *cost.Entry) string { return string(e.Agent) }},
	{"teamId", func(e *cost.Entry) string { return string(e.Team) }},
	{"projectId", func(e *cost.Entry) string { return string(e.Project) }},
	{"adjusts", func(e *cost.Entry) string { return string(e.Adjusts) }},
	{"reason", func(e *cost.Entry) string { return text.Cell(e.Reason) }},
}

var costHead = func() []byte {
	names := make([]string, len(costColumns))
	for n, column := range costColumns {
		names[n] = column.name
	}
	return []byte(strings.Join(names, ",") + "\n")
}()

// costRows appends entries to text as rows of CSV.
func costRows(text []byte, entries []cost.Entry) []byte {
	buffer := bytes.NewBuffer(text)
	rows := csv.NewWriter(buffer)
	row := make([]string, len(costColumns))
	for n := range entries {
		for at, column := range costColumns {
			row[at] = column.of(&entries[n])
		}
		_ = rows.Write(row) // into memory
	}
	rows.Flush()
	return buffer.Bytes()
}

// numberOrEmpty spells a number that is above 0 if there is one.
func numberOrEmpty(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
