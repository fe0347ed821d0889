package wiring_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// apiCosts is a report of costs as the API shows it.
type apiCosts struct {
	Scope, ScopeID string
	Period         struct{ Start, End, Label string }
	Total          apiSum
	Budget         *struct{ Usd, Remaining, PercentUsed json.Number }
	Breakdown      struct{ Llm, Tools, RuntimeServices json.Number }
	ByTeam         []apiPart
	ByAgent        []apiPart
	ByModel        []apiPart
	Trend          *struct {
		PerDay []struct {
			Date string
			Usd  json.Number
		}
	}
}

type apiSum struct {
	Usd    json.Number
	Tokens struct{ Input, Output, CacheRead, CacheWrite int64 }
	Calls  int64
}

type apiPart struct {
	TeamID, AgentID, Model string
	apiSum
}

// apiCost is a cost entry as the API shows it.
type apiCost struct {
	ID, At, Key, Kind, RunID, IssueID, AgentID, TeamID string
	ProjectID                                          *string
	Revision                                           *int64

	Usd                             json.Number
	Tokens                          struct{ Input, Output, CacheRead, CacheWrite int64 }
	Calls                           int64
	Unpriced, Late                  bool
	Model, Billing, Adjusts, Reason *string
}

// costsOf reads a report.
func (s *instance) costsOf(t *testing.T, in company, path string) apiCosts {
	t.Helper()
	answer := s.In(t).Get(in.path() + "/costs" + path)
	answer.Is(t, 200, "")
	return resttest.Data[apiCosts](t, answer)
}

// paid is a company that has paid for two issues.
type paid struct {
	company
	team   team
	by     []worker
	leases []apiLease
}

func (s *instance) pays(t *testing.T) paid {
	t.Helper()
	in, of, by := s.workers(t, 2)
	s.Patch(in.path(), `{"budget":{"usd":100,"reservePercent":10}}`).Is(t, 200, "")
	p := paid{company: in, team: of, by: by}
	for n, agent := range by {
		s.file(t, in, fmt.Sprintf(`,"assignedAgentId":%q`, agent.ID))
		lease := agent.claim(t, "")
		p.leases = append(p.leases, lease)
		agent.state(t, lease, "costs", fmt.Sprintf(`"costs":[
			{"key":"a","kind":"llm","usd":%d,"model":"claude","tokens":{"input":10,"output":5}},
			{"key":"=b","kind":"tools","usd":0.5},{"key":"c","kind":"runtimeServices","usd":0.25,"calls":3}]`, n+1))
	}
	return p
}

func TestCostsAreSummedForEachThatHasThem(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		ada, bob := p.by[0], p.by[1]
		s.Patch(ada.path(), `{"budget":{"dailyUsd":7,"perTaskUsd":3.5}}`).Is(t, 200, "")
		s.Patch(p.team.path(), `{"budget":{"usd":50}}`).Is(t, 200, "")

		of := s.costsOf(t, p.company, "")
		if of.Scope != "company" || of.ScopeID != p.ID || of.Period.Label != "monthly" || of.Total.Usd != "4.5" || of.Total.Calls != 10 ||
			of.Total.Tokens.Input != 20 || of.Breakdown.Llm != "3" || of.Breakdown.Tools != "1" || of.Breakdown.RuntimeServices != "0.5" {
			t.Errorf("%+v", of)
		}
		if len(of.ByTeam) != 1 || of.ByTeam[0].TeamID != p.team.ID || of.ByTeam[0].Usd != "4.5" || len(of.ByModel) != 1 ||
			of.ByModel[0].Model != "claude" || of.ByModel[0].Usd != "3" {
			t.Errorf("%+v", of)
		}
		if b := of.Budget; b == nil || b.Usd != "100" || b.Remaining != "85.5" || b.PercentUsed != "5" {
			t.Errorf("%+v", b)
		}
		days := of.Trend.PerDay
		if last := days[len(days)-1]; last.Usd != "4.5" || days[0].Date != of.Period.Start[:10] || last.Date != of.Period.End[:10] {
			t.Errorf("%+v", days)
		}

		of = s.costsOf(t, p.company, "/teams/"+p.team.Slug+"?since=today")
		if of.Scope != "team" || of.ScopeID != p.team.ID || of.Total.Usd != "4.5" || len(of.ByAgent) != 2 ||
			of.ByAgent[0].AgentID != bob.ID || of.ByAgent[0].Usd != "2.75" || of.ByAgent[1].Usd != "1.75" ||
			of.Budget.Remaining != "45.5" || len(of.Trend.PerDay) != 1 {
			t.Errorf("%+v", of)
		}
		of = s.costsOf(t, p.company, "/agents/"+ada.ID+"?since=1h")
		if of.Scope != "agent" || of.Total.Usd != "1.75" || of.ByModel[0].Usd != "1" || of.Budget.Usd != "7" ||
			of.Budget.PercentUsed != "25" {
			t.Errorf("%+v", of)
		}
		of = s.costsOf(t, p.company, "/agents/"+bob.ID+"?since=yesterday")
		if of.Total.Usd != "0" || of.Budget != nil || len(of.ByModel) != 0 ||
			len(of.Trend.PerDay) != 1 {
			t.Errorf("%+v", of)
		}
		for path, trend := range map[string]int{
			"/issues/" + p.leases[0].Issue.ID: 0, "/runs/" + p.leases[0].Run.ID: 0,
			"/issues/" + p.leases[0].Issue.ID + "?since=2020-01-01T00:00:00Z": 400,
		} {
			of := s.costsOf(t, p.company, path)
			if of.Total.Usd != "1.75" || of.Breakdown.Llm != "1" || of.ByModel[0].Tokens.Output != 5 || (of.Trend != nil) != (trend > 0) ||
				trend > 0 && len(of.Trend.PerDay) != trend || trend == 0 && of.Period.Label != "lifetime" {
				t.Errorf("%s: %+v", path, of)
			}
			if isRun := strings.HasPrefix(path, "/runs"); isRun != (of.Budget == nil) || !isRun && of.Budget.Usd != "3.5" {
				t.Errorf("%s: %+v", path, of.Budget)
			}
		}
	})
}

func TestCostsOfProjectsAreThoseOfTheRunsForThem(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, by := s.workers(t, 1)
		launch, rest := s.plans(t, acme, `,"budget":{"usd":10}`), s.plans(t, acme, "")
		for n, of := range []string{inProject(launch), inProject(rest), ""} {
			filed := s.file(t, acme, of)
			lease := by[0].claim(t, "")
			if n == 0 { // what a run is for does not change while it lasts
				s.Patch(filed.path(), `{"projectId":"`+rest.ID+`"}`).Is(t, 200, "")
			}
			by[0].state(t, lease, "costs", `"costs":[{"key":"a","kind":"llm","model":"none","tokens":{"output":20000}},
				{"key":"b","kind":"tools","usd":0.5}]`)
			by[0].ends(t, lease, "complete", "")
		}
		entries := s.entries(t, acme, "&project="+launch.ID)
		if len(entries) != 2 || *entries[0].ProjectID != launch.ID || entries[0].Revision != nil || *entries[1].Revision != 1 {
			t.Errorf("%+v", entries)
		}
		if all := s.entries(t, acme, ""); len(all) != 6 || all[0].ProjectID != nil {
			t.Errorf("%+v", all)
		}
		if exported, _ := s.exported(t, acme, "&project="+launch.ID); len(exported) != 2 || *exported[0].ProjectID != launch.ID {
			t.Errorf("%+v", exported)
		}
		answer := s.In(t).Get(acme.path() + "/costs/export?format=csv&project=" + launch.ID)
		rows, err := csv.NewReader(bytes.NewReader(answer.Body)).ReadAll()
		must(t, err)
		for name, want := range map[string][]string{"revision": {"1", ""}, "projectId": {launch.ID, launch.ID}} {
			at := slices.Index(rows[0], name)
			if got := []string{rows[1][at], rows[2][at]}; !slices.Equal(got, want) {
				t.Errorf("%s: %q", name, got)
			}
		}
		s.Post(acme.path()+"/costs/adjust", `{"entryId":"`+entries[0].ID+`","usd":-0.25,"reason":"Credit"}`).Is(t, 200, "")
		of := s.costsOf(t, acme, "/projects/"+launch.ID)
		if of.Scope != "project" || of.ScopeID != launch.ID || of.Period.Label != "monthly" || of.Total.Usd != "1.75" ||
			of.Breakdown.Tools != "0.25" || len(of.ByModel) != 1 || of.ByModel[0].Tokens.Output != 20000 ||
			of.Budget.Usd != "10" || of.Budget.Remaining != "8.25" || of.Budget.PercentUsed != "17.5" {
			t.Errorf("%+v", of)
		}
		if last := of.Trend.PerDay[len(of.Trend.PerDay)-1]; last.Usd != "1.75" {
			t.Errorf("%+v", of.Trend)
		}
		for path, want := range map[string]json.Number{
			"/projects/" + launch.ID + "?since=1h": "1.75", "/projects/" + launch.ID + "?since=last_month": "0",
			"/projects/" + rest.ID: "2", "": "5.75",
		} {
			if got := s.costsOf(t, acme, path).Total.Usd; got != want {
				t.Errorf("%s costs %s, want %s", path, got, want)
			}
		}
		other := s.create(t, named("other"))
		for _, path := range []string{"/projects/" + launch.ID, "/projects/x", "/entries?project=" + launch.ID} {
			s.In(t).Get(other.path()+"/costs"+path).Is(t, 404, "not_found")
		}
	})
}

func TestCostsOfNothingAndOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p, other := s.pays(t), s.create(t, named("other"))
		for path, want := range map[string]string{
			"": "200", "/teams/none": "404 not_found", "/teams/" + p.team.ID: "404 not_found", "/agents/" + p.by[0].ID: "404 not_found",
			"/issues/" + p.leases[0].Issue.ID: "404 not_found", "/runs/" + p.leases[0].Run.ID: "404 not_found",
			"/agents/x":                    "404 not_found",
			"/entries?agent=" + p.by[0].ID: "404 not_found", "/export?run=" + p.leases[0].Run.ID: "404 not_found",
			"?since=tomorrow": "400 invalid_parameter", "?since=today&until=yesterday": "400 invalid_parameter",
			"/issues/none?since=tomorrow": "400 invalid_parameter", "/export?until=x": "400 invalid_parameter",
			"/export?after=cst_none": "400 invalid_cursor", "/export?format=csv": "200",
			"/runs/" + p.leases[0].Run.ID + "?since=today": "400 invalid_parameter",
		} {
			answer := send(s.In(t), "GET", other.path()+"/costs"+path, "")
			if got := strings.TrimSpace(fmt.Sprint(answer.Status, " ", answer.Error.Code)); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		reader := s.with(t, "read")
		reader.In(t).Get(p.path()+"/costs").Is(t, 200, "")
		reader.In(t).Get(p.path()+"/costs/forecast").Is(t, 200, "")
		for _, path := range []string{"/costs/entries", "/costs/export"} {
			reader.In(t).Get(p.path()+path).Is(t, 403, "insufficient_scope")
		}
		send(reader.In(t), "POST", p.path()+"/costs/adjust", `{}`).Is(t, 403, "insufficient_scope")
	})
}

func TestAForecastOfTheCurrentPeriod(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		answer := s.In(t).Get(p.path() + "/costs/forecast")
		answer.Is(t, 200, "")
		of := resttest.Data[struct {
			Period                                            struct{ Start, End, Label string }
			SpentUsd, ExpectedUsd, LowUsd, HighUsd, BudgetUsd json.Number
			BasisDays                                         int
		}](t, answer)
		now, err := s.store.StoreNow(t.Context())
		must(t, err)
		if of.SpentUsd != "4.5" || of.BudgetUsd != "90" || of.Period.Label != "monthly" || of.BasisDays != now.Day()-1 {
			t.Errorf("%s", answer.Data)
		}
	})
}

// entries reads all cost entries of a company, newest first, in pages.
func (s *instance) entries(t *testing.T, in company, filters string) (all []apiCost) {
	t.Helper()
	for cursor := ""; ; {
		answer := s.In(t).Get(in.path() + "/costs/entries?limit=4" + filters + cursor)
		answer.Is(t, 200, "")
		all = append(all, resttest.Data[[]apiCost](t, answer)...)
		if answer.Meta.Page.Cursor == nil {
			return all
		}
		cursor = "&cursor=" + *answer.Meta.Page.Cursor
	}
}

// exported reads an export as JSON.
func (s *instance) exported(t *testing.T, in company, filters string) (all []apiCost, text string) {
	t.Helper()
	answer := s.In(t).Get(in.path() + "/costs/export?format=jsonl" + filters)
	answer.Is(t, 200, "")
	for lines := bufio.NewScanner(bytes.NewReader(answer.Body)); lines.Scan(); {
		var one apiCost
		must(t, json.Unmarshal(lines.Bytes(), &one))
		all = append(all, one)
	}
	return all, string(answer.Body)
}

func TestAnExportHasEveryEntryOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		for n := range 12 { // more than one portion
			var charges []string
			for m := range 100 {
				charges = append(charges, fmt.Sprintf(`{"key":"%d-%d","kind":"tools","usd":0.01}`, n, m))
			}
			p.by[0].state(t, p.leases[0], "costs", `"costs":[`+strings.Join(charges, ",")+`]`)
		}
		for _, filters := range []string{
			"", "&kind=tools", "&agent=" + p.by[1].ID, "&team=" + p.team.Slug + "&since=24h", "&since=yesterday",
		} {
			listed := s.entries(t, p.company, filters)
			got, text := s.exported(t, p.company, filters)
			_, again := s.exported(t, p.company, filters)
			if len(got) != len(listed) || text != again {
				t.Errorf("%s: %d listed, %d exported", filters, len(listed), len(got))
			}
			for n, one := range got {
				if diff := cmp.Diff(listed[len(listed)-1-n], one); diff != "" {
					t.Fatal(diff)
				}
			}
			if len(got) > 5 {
				if rest, _ := s.exported(t, p.company, filters+"&after="+got[4].ID); cmp.Diff(rest, got[5:]) != "" {
					t.Errorf("%d entries come after the fifth of %d", len(rest), len(got))
				}
			}
		}
		of := s.costsOf(t, p.company, "?since=1h")
		if of.Total.Usd != "16.5" || of.Breakdown.Tools != "13" {
			t.Errorf("%+v", of)
		}

		answer := s.In(t).Get(p.path() + "/costs/export?format=csv&issue=" + p.leases[1].Issue.ID)
		rows, err := csv.NewReader(bytes.NewReader(answer.Body)).ReadAll()
		must(t, err)
		if len(rows) != 4 || rows[0][0] != "id" || rows[1][2] != "a" || rows[1][4] != "2" || rows[1][5] != "claude" || rows[1][6] != "10" ||
			rows[2][2] != "'=b" || answer.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%s", answer.Body)
		}
		answer = s.In(t).Get(p.path() + "/costs/export?format=csv&issue=" + p.leases[1].Issue.ID + "&after=" + rows[2][0])
		if rest, err := csv.NewReader(bytes.NewReader(answer.Body)).ReadAll(); err != nil || cmp.Diff(rest, rows[3:]) != "" {
			t.Errorf("%s", answer.Body)
		}
		head := send(s.In(t), "HEAD", p.path()+"/costs/export?format=csv", "")
		if head.Status != 200 || head.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%d %v", head.Status, head.Header)
		}
	})
}

func TestACorrectionCountsEverywhere(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		var of apiCost
		for _, entry := range s.entries(t, p.company, "&agent="+p.by[0].ID) {
			if entry.Key == "a" {
				of = entry
			}
		}
		adjust := func(body string, header ...string) resttest.Answer {
			return send(s.In(t), "POST", p.path()+"/costs/adjust", body, header...)
		}
		body := fmt.Sprintf(`{"entryId":%q,"usd":-0.75,"reason":"Credit"}`, of.ID)
		events := len(s.events(t, p.ID))
		s.clock.advance(time.Second)
		answer := adjust(body, "Idempotency-Key", "once")
		answer.Is(t, 200, "")
		made := resttest.Data[apiCost](t, answer)
		if made.Usd != "-0.75" || *made.Adjusts != of.ID || *made.Reason != "Credit" || made.At != of.At || made.RunID != of.RunID ||
			made.Kind != "llm" || *made.Model != "claude" || made.Calls != 0 || made.Key != made.ID {
			t.Errorf("%s", answer.Data)
		}
		if again := adjust(body, "Idempotency-Key", "once"); string(again.Data) != string(answer.Data) {
			t.Errorf("%s", again.Body)
		}
		if got := s.events(t, p.ID); len(got) != events+1 || got[0].Type != "cost.adjusted" && got[len(got)-1].Type != "cost.adjusted" {
			t.Errorf("%d events, and %d before", len(got), events)
		}
		for path, want := range map[string]json.Number{
			"": "3.75", "/teams/" + p.team.ID: "3.75", "/agents/" + p.by[0].ID: "1", "/issues/" + of.IssueID: "1", "/runs/" + of.RunID: "1",
			"/issues/" + of.IssueID + "?since=1h": "1", "/agents/" + p.by[1].ID: "2.75",
		} {
			if got := s.costsOf(t, p.company, path).Total.Usd; got != want {
				t.Errorf("%s costs %s, want %s", path, got, want)
			}
		}
		if got := s.look(t, p.leases[0].Issue).Budget.SpentUsd; got != "1" {
			t.Errorf("the issue costs %s", got)
		}
		if got := s.runOf(t, p.leases[0]); got.CostUsd != "1" || got.Tokens.Input != 10 {
			t.Errorf("%+v", got)
		}
		for body, want := range map[string]string{
			fmt.Sprintf(`{"entryId":%q,"usd":-0.250001,"reason":"r"}`, of.ID): "usd out_of_range",
			fmt.Sprintf(`{"entryId":%q,"usd":0,"reason":"r"}`, of.ID):         "usd out_of_range",
			fmt.Sprintf(`{"entryId":%q,"usd":1,"reason":"r"}`, made.ID):       "entryId unknown_value",
			`{"entryId":"cst_none","usd":"1","reason":null,"color":"green"}`: "color unknown_field," +
				"entryId unknown_value,reason not_null,usd wrong_type",
			`{}`: "entryId required,reason required,usd required",
		} {
			answer := adjust(body)
			if got := strings.Join(wrong(answer), ","); got != want || answer.Status != 422 {
				t.Errorf("%s: %s", body, answer.Body)
			}
		}
		adjust(fmt.Sprintf(`{"entryId":%q,"usd":-0.25,"reason":"All of it"}`, of.ID)).Is(t, 200, "")
		if got := s.costsOf(t, p.company, "/runs/"+of.RunID); got.Total.Usd != "0.75" || got.Breakdown.Llm != "0" {
			t.Errorf("%+v", got)
		}
		if got, _ := s.exported(t, p.company, "&run="+of.RunID); len(got) != 5 {
			t.Errorf("%d entries", len(got))
		}
		s.Post(p.path()+"/archive", "").Is(t, 200, "")
		adjust(fmt.Sprintf(`{"entryId":%q,"usd":1,"reason":"r"}`, of.ID)).Is(t, 409, "company_archived")
	})
}
