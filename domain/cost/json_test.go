package cost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
)

func TestAChargeIsReadFromJSON(t *testing.T) {
	t.Parallel()
	const sent = ` [ {"key":"a\u002d1","kind":"llm","usd":1.50,"model":"m","billing":"b","calls":2e0,
		"tokens":{"input":1.0,"output":2,"cacheRead":3,"cacheWrite":4}}, {"tokens":{}}, {} ] `
	want := []cost.Draft{
		{
			Key: new("a-1"), Kind: new("llm"), USD: new(money.Number("1.50")), Model: new("m"), Billing: new("b"), Calls: new(int64(2)),
			Tokens: &cost.TokensDraft{Input: new(int64(1)), Output: new(int64(2)), CacheRead: new(int64(3)), CacheWrite: new(int64(4))},
		},
		{Tokens: &cost.TokensDraft{}},
		{},
	}
	var problems fault.Problems
	if diff := cmp.Diff(want, cost.DraftsFromJSON("costs", []byte(sent), &problems)); diff != "" || len(problems) > 0 {
		t.Errorf("%v: %s", problems, diff)
	}
}

func TestTheFormOfAChargeIsChecked(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		`[]`:                                  "",
		``:                                    "costs:wrong_type",
		`null`:                                "costs:not_null",
		`{}`:                                  "costs:wrong_type",
		`[`:                                   "costs:invalid_format",
		`[{}`:                                 "costs:invalid_format",
		`[{}}`:                                "costs:invalid_format",
		`[{}] 1`:                              "costs:invalid_format",
		`[{"key":"` + "\xff" + `"}]`:          "costs:invalid_format",
		`[{"key":"a","key":"b"}]`:             "costs.0:duplicate",
		`[{"tokens":{"input":1,"input":1}}]`:  "costs.0.tokens:duplicate",
		`[1,null]`:                            "costs.0:wrong_type costs.1:not_null",
		`[{"key":1,"kind":null,"usd":"1"}]`:   "costs.0.key:wrong_type costs.0.kind:not_null costs.0.usd:wrong_type",
		`[{"calls":1.5},{"calls":"1"}]`:       "costs.0.calls:wrong_type costs.1.calls:wrong_type",
		`[{"calls":1e400},{"calls":true}]`:    "costs.0.calls:out_of_range costs.1.calls:wrong_type",
		`[{"Key":"a","tokens":{"cached":1}}]`: "costs.0.Key:unknown_field costs.0.tokens.cached:unknown_field",
		`[{"tokens":null},{"tokens":7}]`:      "costs.0.tokens:not_null costs.1.tokens:wrong_type",
		"[" + strings.Repeat("{},", cost.MostInCall) + "{}]": "costs:too_many",
	} {
		var problems fault.Problems
		cost.DraftsFromJSON("costs", []byte(sent), &problems)
		if got := paths(t, problems); got != want {
			t.Errorf("%.60s: %s; want %s", sent, got, want)
		}
	}
}

func TestSoManyProblemsOfChargesAreReported(t *testing.T) {
	t.Parallel()
	var problems fault.Problems
	var names []string
	for n := range 1000 {
		names = append(names, fmt.Sprintf(`"x%d":1`, n))
	}
	cost.DraftFromJSON("cost", []byte("{"+strings.Join(names, ",")+"}"), &problems)
	if len(problems) != 100 {
		t.Errorf("%d problems", len(problems))
	}
	problems = nil
	cost.DraftFromJSON("cost", []byte("{"+strings.Join(names, ",")+`,"usd":1}`), &problems)
	if got := paths(t, problems); got != "cost:too_many" {
		t.Error(got)
	}
}
