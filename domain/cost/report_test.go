package cost_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
)

func TestAReportShowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	start := time.Date(2028, 2, 28, 12, 0, 0, 0, time.UTC)
	sum := cost.Sum{LLM: 3, Tools: 2, RuntimeServices: 1, Tokens: someTokens, Calls: 4}
	of := cost.Report{
		Scope: budget.OfTeam, ID: "tm_a", Range: cost.Range{Start: start, End: start.Add(24 * time.Hour), Label: "24h"}, Total: sum,
		Use: usedUp(budget.OfTeam, 8, 0, 6), Members: map[string]cost.Sum{"agt_b": {Tools: 2}, "agt_a": {Tools: 2}, "agt_c": {LLM: 9}},
		Models: map[string]cost.Sum{"m": {LLM: 3}}, IsTrend: true, PerDay: map[string]cost.Sum{"2028-02-29": sum},
	}
	const none = `"tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"calls":0}`
	want := `{"scope":"team","scopeId":"tm_a",` +
		`"period":{"start":"2028-02-28T12:00:00.000Z","end":"2028-02-29T12:00:00.000Z","label":"24h"},` +
		`"total":{"usd":0.000006,"tokens":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4},"calls":4},` +
		`"budget":{"usd":0.000008,"remaining":0.000002,"percentUsed":75},` +
		`"breakdown":{"llm":0.000003,"tools":0.000002,"runtimeServices":0.000001},` +
		`"byAgent":[{"agentId":"agt_c","usd":0.000009,` + none + `,{"agentId":"agt_a","usd":0.000002,` + none +
		`,{"agentId":"agt_b","usd":0.000002,` + none + `],"byModel":[{"model":"m","usd":0.000003,` + none + `],` +
		`"trend":{"perDay":[{"date":"2028-02-28","usd":0},{"date":"2028-02-29","usd":0.000006}]}}`
	if got := string(of.Fields().Append(nil)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	bare := cost.Report{Scope: budget.OfRun, ID: "run_a"}.Fields().Append(nil)
	if got := string(bare); !strings.Contains(got, `"budget":null`) || !strings.Contains(got, `"byModel":[]`) ||
		strings.Contains(got, "byT") || strings.Contains(got, "trend") {
		t.Error(got)
	}
}

func TestABudgetIsUsedUpWithoutItsReserve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		use  cost.Use
		want string
	}{
		{usedUp(budget.OfCompany, 1000, 25_00, 300), `{"usd":0.001,"remaining":0.00045,"percentUsed":40}`},
		{usedUp(budget.OfCompany, 1000, 100_00, 0), `{"usd":0.001,"remaining":0,"percentUsed":null}`},
		{usedUp(budget.OfAgent, 3, 0, 7), `{"usd":0.000003,"remaining":0,"percentUsed":233.33}`},
	} {
		shown := string(cost.Report{Use: c.use}.Fields().Append(nil))
		if !strings.Contains(shown, `"budget":`+c.want) {
			t.Errorf("%s, want %s", shown, c.want)
		}
	}
}

func TestARankingHasTheDearestAndTheOthers(t *testing.T) {
	t.Parallel()
	parts := map[string]cost.Sum{}
	for n := range cost.MostRanked + 3 {
		parts[fmt.Sprintf("%03d", n)] = cost.Sum{LLM: money.USD(n), Calls: 1}
	}
	r := cost.Rank(parts)
	if len(r.Parts) != cost.MostRanked || r.Parts[0].Key != "102" || r.Parts[99].Key != "003" || r.Others != 3 ||
		r.Rest != (cost.Sum{LLM: 3, Calls: 3}) {
		t.Errorf("%+v", r)
	}
	shown := cost.Report{Scope: budget.OfCompany, Members: parts}.Fields()
	for _, field := range shown {
		if list, ok := field.Value.([]event.Fields); ok && field.Name == "byTeam" {
			if last := string(list[100].Append(nil)); !strings.HasPrefix(last, `{"teamId":null,"others":3,"usd":0.000003,`) {
				t.Error(last)
			}
		}
	}
}

// oneEntry has one entry, which has been corrected.
type oneEntry struct {
	entry cost.Entry
	by    money.USD
}

func (o oneEntry) Corrected(which id.Cost) (cost.Entry, money.USD, error) {
	if which != o.entry.ID {
		return cost.Entry{}, 0, fault.New(fault.NotFound, "There is none.")
	}
	return o.entry, o.by, nil
}

func TestACorrectionOffsetsAnEntryAtItsInstant(t *testing.T) {
	t.Parallel()
	at := time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)
	paid := cost.Entry{
		ID: "cst_01h455vb4pex5vsknk084sn02q", Company: "cmp_a", Issue: "iss_a", Run: "run_a", Agent: "agt_a", Team: "tm_a",
		Project: "prj_a", Key: "k", Kind: cost.LLM, USD: 10, Model: "m", Tokens: someTokens, Calls: 3, Billing: "b", Unpriced: true,
		Late: true, At: at,
	}
	draft := func(entry, usd, reason string) cost.AdjustmentDraft {
		return cost.AdjustmentDraft{Entry: &entry, USD: new(money.Number(usd)), Reason: &reason}
	}
	in := oneEntry{paid, -4}
	made, happened, err := cost.Adjust("cst_new", draft(string(paid.ID), "-0.000006", " Wrong "), in, at.Add(time.Hour))
	want := cost.Entry{
		ID: "cst_new", Company: "cmp_a", Issue: "iss_a", Run: "run_a", Agent: "agt_a", Team: "tm_a",
		Project: "prj_a", Key: "cst_new", Kind: cost.LLM, USD: -6, Model: "m", Billing: "b", Adjusts: paid.ID, Reason: "Wrong", At: at,
		AdjustedAt: at.Add(time.Hour),
	}
	if err != nil || made != want || happened.Type != event.CostAdjusted || happened.Subject.ID != "cst_new" ||
		happened.Company != "cmp_a" {
		t.Errorf("%+v, %+v, %v", made, happened, err)
	}
	for _, c := range []struct {
		sent cost.AdjustmentDraft
		in   oneEntry
		want string
	}{
		{cost.AdjustmentDraft{}, in, "reason:required usd:required entryId:required"},
		{draft("cst_none", "0", " "), in, "reason:required usd:out_of_range entryId:unknown_value"},
		{draft(string(paid.ID), "-0.000007", "r"), in, "usd:out_of_range"},
		{draft(string(paid.ID), "0.0000001", "r"), in, "usd:too_precise"},
		{draft(string(paid.ID), "1000000", "r"), in, "usd:out_of_range"},
		{draft(string(paid.ID), "-1", "r"), oneEntry{made, 0}, "entryId:unknown_value"},
		{draft(string(made.ID), "1", "r"), oneEntry{cost.Entry{ID: made.ID, Adjusts: paid.ID}, 0}, "entryId:unknown_value"},
	} {
		_, _, err := cost.Adjust("cst_new", c.sent, c.in, at)
		var got []string
		for _, field := range fault.Of(err).Fields {
			got = append(got, field.Path+":"+field.Code)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.sent, got, c.want)
		}
	}
}

// usedUp is the use of a limit of which some is spent.
func usedUp(scope budget.Scope, limit money.USD, reserve money.Percent, spent money.USD) cost.Use {
	return cost.UseOf(budget.Envelope{Scope: scope, Set: budget.Of(limit), Reserve: reserve, Account: budget.Account{Spent: spent}})
}
