package cost_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
	"holdco/domain/price"
)

// prices are those of an instance that was not told any: of the model m there is none.
var prices = price.Initial().Index()

var someTokens = cost.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}

// paid is the least draft of a charge, changed by sent.
func paid(sent func(*cost.Draft)) cost.Draft {
	d := cost.Draft{Key: new("k"), Kind: new("tools"), USD: new(money.Number("0"))}
	if sent != nil {
		sent(&d)
	}
	return d
}

// used is a draft of a charge for tokens.
func used(input, output, cacheRead, cacheWrite int64) cost.Draft {
	return cost.Draft{
		Key: new("k"), Kind: new("llm"), Model: new("m"),
		Tokens: &cost.TokensDraft{Input: &input, Output: &output, CacheRead: &cacheRead, CacheWrite: &cacheWrite},
	}
}

func parse(t *testing.T, draft cost.Draft) cost.Entry {
	t.Helper()
	var problems fault.Problems
	entries := cost.Parse([]cost.Draft{draft}, prices, &problems)
	if len(problems) > 0 || len(entries) != 1 {
		t.Fatalf("%+v: %v", draft, problems)
	}
	return entries[0]
}

func TestAChargeIsWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent cost.Draft
		want cost.Entry
	}{
		{paid(nil), cost.Entry{Key: "k", Kind: cost.Tools, Calls: 1}},
		{
			cost.Draft{
				Key: new("!~"), Kind: new("runtimeServices"), USD: new(money.Number("1e6")), Calls: new(int64(7)),
				Billing: new(" subscription "),
			},
			cost.Entry{Key: "!~", Kind: cost.RuntimeServices, USD: cost.Most, Calls: 7, Billing: "subscription"},
		},
		{ // an amount that was sent counts, whatever the tokens cost
			cost.Draft{
				Key: new("k"), Kind: new("llm"), USD: new(money.Number("0.000001")), Model: new("claude"),
				Tokens: &cost.TokensDraft{Input: new(int64(1e9)), CacheWrite: new(int64(5))},
			},
			cost.Entry{Key: "k", Kind: cost.LLM, USD: 1, Model: "claude", Tokens: cost.Tokens{Input: 1e9, CacheWrite: 5}, Calls: 1},
		},
		{
			used(1, 2, 3, 4),
			cost.Entry{
				Key: "k", Kind: cost.LLM, USD: 270, Model: "m", Tokens: someTokens, Calls: 1, Unpriced: true, Revision: 1,
			},
		},
		{
			cost.Draft{Key: new("k"), Kind: new("llm"), Model: new("m"), Tokens: &cost.TokensDraft{}},
			cost.Entry{Key: "k", Kind: cost.LLM, Model: "m", Calls: 1, Unpriced: true, Revision: 1},
		},
	} {
		if diff := cmp.Diff(c.want, parse(t, c.sent)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTokensWithoutAPriceCostTheFallback(t *testing.T) {
	t.Parallel()
	most := int64(cost.MostTokens)
	rapid.Check(t, func(t *rapid.T) {
		var tokens [4]int64
		for n := range tokens {
			tokens[n] = rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, most), rapid.Just(most)).Draw(t, "n")
		}
		var problems fault.Problems
		got := cost.Parse([]cost.Draft{used(tokens[0], tokens[1], tokens[2], tokens[3])}, prices, &problems)[0].USD
		// 15 dollars for a million of input, 75 for one of output, in millionths of a dollar: every token costs a whole number of them.
		want := new(big.Int).Mul(big.NewInt(15), new(big.Int).SetInt64(tokens[0]+tokens[2]+tokens[3]))
		want.Add(want, new(big.Int).Mul(big.NewInt(75), big.NewInt(tokens[1])))
		if big.NewInt(int64(got)).Cmp(want) != 0 || len(problems) > 0 {
			t.Fatalf("%v cost %d, want %d: %v", tokens, got, want, problems)
		}
	})
	if got := parse(t, used(most, most, most, most)).USD; got != 120_000*money.Dollar {
		t.Errorf("the most tokens cost %v", got)
	}
}

func TestTokensAreChargedAtThePricesOfTheirRevision(t *testing.T) {
	t.Parallel()
	table, _, _, err := price.Initial().Set("M", price.Draft{Input: new(money.Number("1")), Output: new(money.Number("2"))}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var problems fault.Problems
	got := cost.Parse([]cost.Draft{used(1, 2, 3, 4), used(1e9, 1e9, 1e9, 1e9)}, table.Index(), &problems)
	want := cost.Entry{Key: "k", Kind: cost.LLM, USD: 12, Model: "m", Tokens: someTokens, Calls: 1, Revision: 2}
	if diff := cmp.Diff(want, got[0]); diff != "" || got[1].USD != 5000*money.Dollar || len(problems) > 0 {
		t.Errorf("%s\n%v: %v", diff, got[1].USD, problems)
	}
	dear := price.Draft{Input: new(money.Number("1000000")), Output: new(money.Number("0"))}
	if table, _, _, err = table.Set("m", dear, time.Time{}); err != nil {
		t.Fatal(err)
	}
	got = cost.Parse([]cost.Draft{used(1e6, 0, 0, 0), used(1e6, 0, 1, 0)}, table.Index(), &problems)
	if paths := paths(t, problems); got[0].USD != cost.Most || paths != "costs.1.tokens:out_of_range" {
		t.Errorf("%v, %s", got[0].USD, paths)
	}
	got = cost.Parse([]cost.Draft{used(1, 2, 3, 4)}, nil, &problems)
	if !got[0].Unpriced || got[0].USD != 0 {
		t.Errorf("without prices: %+v", got[0])
	}
}

func TestEveryFieldOfAChargeObeysItsRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		sent       func(*cost.Draft)
	}{
		{"nothing", "costs.0.key:required costs.0.kind:required costs.0.usd:required", func(d *cost.Draft) { *d = cost.Draft{} }},
		{"empty key", "costs.0.key:invalid_format", func(d *cost.Draft) { d.Key = new("") }},
		{"key with a space", "costs.0.key:invalid_format", func(d *cost.Draft) { d.Key = new("a b") }},
		{"key that is not ASCII", "costs.0.key:invalid_format", func(d *cost.Draft) { d.Key = new("ö") }},
		{"key with DEL", "costs.0.key:invalid_format", func(d *cost.Draft) { d.Key = new("a\x7f") }},
		{"long key", "costs.0.key:invalid_format", func(d *cost.Draft) { d.Key = new(strings.Repeat("k", cost.KeyLength+1)) }},
		{"longest key", "", func(d *cost.Draft) { d.Key = new(strings.Repeat("k", cost.KeyLength)) }},
		{"unknown kind", "costs.0.kind:unknown_value", func(d *cost.Draft) { d.Kind = new("LLM") }},
		{"empty kind", "costs.0.kind:unknown_value", func(d *cost.Draft) { d.Kind = new("") }},
		{"long model", "costs.0.model:too_long", func(d *cost.Draft) { d.Model = new(strings.Repeat("ö", cost.ModelLength+1)) }},
		{"longest model", "", func(d *cost.Draft) { d.Model = new(strings.Repeat("ö", cost.ModelLength)) }},
		{"blank model", "costs.0.model:required", func(d *cost.Draft) { d.Model = new(" ") }},
		{"long billing", "costs.0.billing:too_long", func(d *cost.Draft) { d.Billing = new(strings.Repeat("b", cost.BillingLength+1)) }},
		{"longest billing", "", func(d *cost.Draft) { d.Billing = new(strings.Repeat("b", cost.BillingLength)) }},
		{"billing with a line break", "costs.0.billing:invalid_characters", func(d *cost.Draft) { d.Billing = new("a\nb") }},
		{"no calls", "costs.0.calls:out_of_range", func(d *cost.Draft) { d.Calls = new(int64(0)) }},
		{"many calls", "costs.0.calls:out_of_range", func(d *cost.Draft) { d.Calls = new(int64(cost.MostTokens + 1)) }},
		{"most calls", "", func(d *cost.Draft) { d.Calls = new(int64(cost.MostTokens)) }},
		{"negative amount", "costs.0.usd:out_of_range", func(d *cost.Draft) { d.USD = new(money.Number("-0.000001")) }},
		{"amount above the most", "costs.0.usd:out_of_range", func(d *cost.Draft) { d.USD = new(money.Number("1000000.000001")) }},
		{"amount beyond all", "costs.0.usd:out_of_range", func(d *cost.Draft) { d.USD = new(money.Number("1e400")) }},
		{"amount of seven decimals", "", func(d *cost.Draft) { d.USD = new(money.Number("0.0000001")) }},
		{"amount just below nothing", "costs.0.usd:out_of_range", func(d *cost.Draft) { d.USD = new(money.Number("-0.0000001")) }},
		{"amount just above the most", "costs.0.usd:out_of_range", func(d *cost.Draft) { d.USD = new(money.Number("1000000.0000001")) }},
		{"most", "", func(d *cost.Draft) { d.USD = new(money.Number("1000000.000000")) }},
		{
			"tokens out of range",
			"costs.0.tokens.input:out_of_range costs.0.tokens.output:out_of_range costs.0.tokens.cacheRead:out_of_range " +
				"costs.0.tokens.cacheWrite:out_of_range",
			func(d *cost.Draft) { *d = used(-1, cost.MostTokens+1, -1<<63, 1<<63-1) },
		},
		{"tokens of tools", "costs.0.usd:required", func(d *cost.Draft) { *d = used(1, 1, 1, 1); d.Kind = new("tools") }},
		{"tokens of no model", "costs.0.usd:required", func(d *cost.Draft) { *d = used(1, 1, 1, 1); d.Model = nil }},
		{"a model without tokens", "costs.0.usd:required", func(d *cost.Draft) { *d = used(1, 1, 1, 1); d.Tokens = nil }},
		{"tokens of an unknown kind", "costs.0.kind:unknown_value", func(d *cost.Draft) { *d = used(1, 1, 1, 1); d.Kind = new("fax") }},
	} {
		var problems fault.Problems
		cost.Parse([]cost.Draft{paid(c.sent)}, prices, &problems)
		if got := paths(t, problems); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

func TestAllThatIsWrongWithTheChargesOfACallIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	problems := fault.Problems{fault.Fieldf("x", fault.UnknownField, "there is no field x")}
	cost.Parse([]cost.Draft{paid(nil), {}, paid(func(d *cost.Draft) { d.Calls = new(int64(-1)) })}, prices, &problems)
	const want = "x:unknown_field costs.1.key:required costs.1.kind:required costs.1.usd:required costs.2.calls:out_of_range"
	if got := paths(t, problems); got != want {
		t.Error(got)
	}
}

func TestACallHasSoManyCharges(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "", 1: "", cost.MostInCall: "", cost.MostInCall + 1: "costs:too_many"} {
		var problems fault.Problems
		drafts := make([]cost.Draft, n)
		for i := range drafts {
			drafts[i] = paid(nil)
		}
		entries := cost.Parse(drafts, prices, &problems)
		if got := paths(t, problems); got != want || want == "" && len(entries) != n {
			t.Errorf("%d: %s, %d entries", n, got, len(entries))
		}
	}
}

func TestAChargeIsTheSameIfAllOfItIs(t *testing.T) {
	t.Parallel()
	full := cost.Entry{
		ID: "cst_1", Key: "k", Kind: cost.LLM, USD: 5, Model: "m", Tokens: someTokens, Calls: 6, Billing: "b",
	}
	for name, c := range map[string]struct {
		change func(*cost.Entry)
		same   bool
	}{
		"nothing":                 {func(*cost.Entry) {}, true},
		"what Holdco adds":        {func(e *cost.Entry) { e.ID, e.Run, e.Agent, e.Late = "cst_2", "run_2", "agt_2", true }, true},
		"kind":                    {func(e *cost.Entry) { e.Kind = cost.Tools }, false},
		"amount":                  {func(e *cost.Entry) { e.USD++ }, false},
		"model":                   {func(e *cost.Entry) { e.Model = "" }, false},
		"input":                   {func(e *cost.Entry) { e.Tokens.Input++ }, false},
		"output":                  {func(e *cost.Entry) { e.Tokens.Output++ }, false},
		"cacheRead":               {func(e *cost.Entry) { e.Tokens.CacheRead++ }, false},
		"cacheWrite":              {func(e *cost.Entry) { e.Tokens.CacheWrite++ }, false},
		"calls":                   {func(e *cost.Entry) { e.Calls++ }, false},
		"billing":                 {func(e *cost.Entry) { e.Billing = "" }, false},
		"priced by tokens or not": {func(e *cost.Entry) { e.Revision = 1 }, false},
		"priced by fallback":      {func(e *cost.Entry) { e.Unpriced = true }, false},
	} {
		other := full
		c.change(&other)
		if full.IsSame(other) != c.same || other.IsSame(full) != c.same {
			t.Errorf("another %s: %t, %t", name, full.IsSame(other), other.IsSame(full))
		}
	}
	priced, dearer, unpriced := full, full, full
	priced.Revision, dearer.Revision, dearer.USD, unpriced.Unpriced, unpriced.USD = 3, 4, 7, true, 9
	if !priced.IsSame(dearer) || !unpriced.IsSame(priced) || !dearer.IsSame(unpriced) {
		t.Error("another price of the same tokens is another charge")
	}
}

func TestTokensAreShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	sum := someTokens.Plus(cost.Tokens{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40})
	if got := string(sum.Fields().Append(nil)); got != `{"input":11,"output":22,"cacheRead":33,"cacheWrite":44}` {
		t.Error(got)
	}
	if got := string(cost.Tokens{}.Fields().Append(nil)); got != `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}` {
		t.Error(got)
	}
}

// paths are the paths and codes of problems. Each message names its path.
func paths(t *testing.T, problems fault.Problems) string {
	t.Helper()
	var found []string
	for _, field := range problems {
		if !strings.Contains(field.Message, field.Path) {
			t.Errorf("%q does not say which field", field.Message)
		}
		found = append(found, field.Path+":"+field.Code)
	}
	return strings.Join(found, " ")
}
