package wiring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// A faulty member of a company that is otherwise all right, and the fields at fault: "path code".
var faultyMembers = []struct {
	members string
	wrong   []string
}{
	{`"name":null`, []string{"name not_null"}},
	{`"name":5`, []string{"name wrong_type"}},
	{`"name":""`, []string{"name required"}},
	{`"name":" \t "`, []string{"name required"}},
	{`"name":"` + strings.Repeat("x", 201) + `"`, []string{"name too_long"}},
	{`"name":"\u200b\u2060"`, []string{"name required"}},
	{`"name":"\u3164"`, []string{"name required"}},
	{`"name":"a\u0000b"`, []string{"name invalid_characters"}},
	{`"name":"a\u0007b"`, []string{"name invalid_characters"}},
	{`"name":"a\nb"`, []string{"name invalid_characters"}},
	{`"name":"a\u0085b"`, []string{"name invalid_characters"}},
	{`"name":"a\u202eb"`, []string{"name invalid_characters"}},
	{`"name":"a\u2067b"`, []string{"name invalid_characters"}},
	{`"NAME":"x"`, []string{"NAME unknown_field"}},
	{`"":"x"`, []string{" unknown_field"}},
	{`"__proto__":{}`, []string{"__proto__ unknown_field"}},
	{`"description":null`, []string{"description not_null"}},
	{`"description":["x"]`, []string{"description wrong_type"}},
	{`"description":"` + strings.Repeat("x", 4001) + `"`, []string{"description too_long"}},
	{`"description":"a\u0000b"`, []string{"description invalid_characters"}},
	{`"defaultAdapter":null`, []string{"defaultAdapter not_null"}},
	{`"defaultAdapter":true`, []string{"defaultAdapter wrong_type"}},
	{`"fiscalPeriod":null`, []string{"fiscalPeriod not_null"}},
	{`"fiscalPeriod":"yearly"`, []string{"fiscalPeriod unknown_value"}},
	{`"fiscalPeriod":"Monthly"`, []string{"fiscalPeriod unknown_value"}},
	{`"fiscalPeriod":""`, []string{"fiscalPeriod unknown_value"}},
	{`"budget":null`, []string{"budget not_null"}},
	{`"budget":5`, []string{"budget wrong_type"}},
	{`"budget":[]`, []string{"budget wrong_type"}},
	{`"budget":{"usd":null}`, []string{"budget.usd not_null"}},
	{`"budget":{"usd":"5"}`, []string{"budget.usd wrong_type"}},
	{`"budget":{"usd":1e-7}`, []string{"budget.usd too_precise"}},
	{`"budget":{"usd":0.1234567}`, []string{"budget.usd too_precise"}},
	{`"budget":{"usd":1e-999999999999}`, []string{"budget.usd too_precise"}},
	{`"budget":{"usd":1000000000.000001}`, []string{"budget.usd out_of_range"}},
	{`"budget":{"usd":1e400}`, []string{"budget.usd out_of_range"}},
	{`"budget":{"usd":9223372036854775808}`, []string{"budget.usd out_of_range"}},
	{`"budget":{"period":"yearly"}`, []string{"budget.period unknown_value"}},
	{`"budget":{"period":null}`, []string{"budget.period not_null"}},
	{`"budget":{"reservePercent":"20"}`, []string{"budget.reservePercent wrong_type"}},
	{`"budget":{"reservePercent":12.345}`, []string{"budget.reservePercent too_precise"}},
	{`"budget":{"currency":"EUR"}`, []string{"budget.currency unknown_field"}},
	{`"budget":{"usd":-1,"period":"x","reservePercent":101}`,
		[]string{"budget.period unknown_value", "budget.reservePercent out_of_range", "budget.usd out_of_range"}},
	{
		`"description":5,"defaultAdapter":"gone","fiscalPeriod":"x","budget":{"usd":-1,"x":1},"x":null`,
		[]string{"budget.usd out_of_range", "budget.x unknown_field", "description wrong_type", "fiscalPeriod unknown_value",
			"x unknown_field"},
	},
}

// The same for members that belong to a creation alone.
var faultyCreations = []struct {
	members string
	wrong   []string
}{
	{`"slug":null`, []string{"slug not_null"}},
	{`"slug":7`, []string{"slug wrong_type"}},
	{`"slug":""`, []string{"slug invalid_format"}},
	{`"slug":"Acme"`, []string{"slug invalid_format"}},
	{`"slug":"-a"`, []string{"slug invalid_format"}},
	{`"slug":"a-"`, []string{"slug invalid_format"}},
	{`"slug":"a--b"`, []string{"slug invalid_format"}},
	{`"slug":"a_b"`, []string{"slug invalid_format"}},
	{`"slug":"a.b"`, []string{"slug invalid_format"}},
	{`"slug":"a\n"`, []string{"slug invalid_format"}},
	{`"slug":"é"`, []string{"slug invalid_format"}},
	{`"slug":"` + strings.Repeat("x", 64) + `"`, []string{"slug invalid_format"}},
	{`"id":"cmp_1","status":"active","teamCount":1`, []string{"id unknown_field", "status unknown_field", "teamCount unknown_field"}},
	{`"workPaused":false`, []string{"workPaused unknown_field"}},
	{`"startingTeams":null`, []string{"startingTeams not_null"}},
	{`"startingTeams":{}`, []string{"startingTeams wrong_type"}},
	{`"startingTeams":[null,5,{}]`, []string{
		"startingTeams.0 not_null", "startingTeams.1 wrong_type", "startingTeams.2.headcount required", "startingTeams.2.name required",
	}},
	{`"startingTeams":[{"name":"","headcount":-1}]`, []string{"startingTeams.0.headcount out_of_range", "startingTeams.0.name required"}},
	{`"startingTeams":[{"name":"\u2800","headcount":1}]`, []string{"startingTeams.0.name required"}},
	{`"startingTeams":[{"name":5,"headcount":"3","x":1}]`, []string{
		"startingTeams.0.headcount wrong_type", "startingTeams.0.name wrong_type", "startingTeams.0.x unknown_field",
	}},
	{`"startingTeams":[{"name":"a","headcount":1001},{"name":"b","headcount":1.5},{"name":"c","headcount":1e30}]`, []string{
		"startingTeams.0.headcount out_of_range", "startingTeams.1.headcount wrong_type", "startingTeams.2.headcount out_of_range",
	}},
	{`"startingTeams":[{"name":"Straße","headcount":1},{"name":"STRASSE ","headcount":1}]`, []string{"startingTeams.1.name duplicate"}},
	{`"startingTeams":[` + strings.Repeat(`{"name":"a","headcount":1},`, 50) + `{"name":"a","headcount":1}]`,
		[]string{"startingTeams too_many"}},
}

// The same for members that belong to a patch alone.
var faultyPatches = []struct {
	members string
	wrong   []string
}{
	{`"workPaused":null`, []string{"workPaused not_null"}},
	{`"workPaused":1`, []string{"workPaused wrong_type"}},
	{`"workPaused":"true","name":5`, []string{"name wrong_type", "workPaused wrong_type"}},
}

func TestFaultyFieldsAreAllToldAndNothingIsKept(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for _, c := range slices.Concat(faultyMembers, faultyCreations) {
			answer := send(s.Client, "POST", "/v1/companies", draft(t, c.members))
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff(c.wrong, wrong(answer)); diff != "" {
				t.Errorf("%.200s: %s", c.members, diff)
			}
		}
		answer := send(s.Client, "POST", "/v1/companies", "{}")
		if diff := cmp.Diff([]string{"name required", "slug required"}, wrong(answer)); diff != "" {
			t.Error(diff)
		}
		if list := s.Get("/v1/companies"); string(list.Data) != "[]" || len(s.events(t, "")) != 1 {
			t.Errorf("a refused creation left something behind: %s", list.Data)
		}

		acme := s.create(t, draft(t, ""))
		for _, c := range slices.Concat(faultyMembers, faultyPatches) {
			answer := send(s.Client, "PATCH", acme.path(), "{"+c.members+"}")
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff(c.wrong, wrong(answer)); diff != "" {
				t.Errorf("patch %.200s: %s", c.members, diff)
			}
		}
		if diff := cmp.Diff(acme, s.see(t, acme)); diff != "" || len(s.events(t, acme.ID)) != 1 {
			t.Errorf("a refused patch left something behind: %s", diff)
		}
	})
}

func TestFiguresOutOfTheirBoundsAndUnknownAdaptersHaveCodesOfTheirOwn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		refused := func(members, code string) (create, patch resttest.Answer) {
			create = send(s.Client, "POST", "/v1/companies", draft(t, members))
			create.Is(t, 422, code)
			patch = send(s.Client, "PATCH", acme.path(), "{"+members+"}")
			patch.Is(t, 422, code)
			return create, patch
		}
		for budget, fields := range map[string][]string{
			`{"usd":-0.000001}`:                  {"budget.usd out_of_range"},
			`{"usd":-1e400}`:                     {"budget.usd out_of_range"},
			`{"reservePercent":-0.01}`:           {"budget.reservePercent out_of_range"},
			`{"reservePercent":100.01}`:          {"budget.reservePercent out_of_range"},
			`{"usd":-1,"reservePercent":1e30}`:   {"budget.reservePercent out_of_range", "budget.usd out_of_range"},
			`{"usd":-5,"period":"weekly"}`:       {"budget.usd out_of_range"},
			`{"usd":5,"reservePercent":100.010}`: {"budget.reservePercent out_of_range"},
		} {
			create, patch := refused(`"defaultAdapter":"gone","budget":`+budget, "budget_invalid")
			if !slices.Equal(wrong(create), fields) || !slices.Equal(wrong(patch), fields) {
				t.Errorf("%s: %v, %v", budget, wrong(create), wrong(patch))
			}
		}
		for _, adapter := range []string{"gone", "", "PROCESS", " process"} {
			create, patch := refused(fmt.Sprintf(`"defaultAdapter":%q`, adapter), "adapter_not_installed")
			want := map[string]any{"adapter": adapter, "installed": []any{"process", "http"}}
			if diff := cmp.Diff(want, details(t, create)) + cmp.Diff(want, details(t, patch)); diff != "" {
				t.Error(diff)
			}
		}
		if diff := cmp.Diff(acme, s.see(t, acme)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFiguresAreExactAndShownInTheirShortestForm(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		i := 0
		for sent, shown := range map[string]string{
			"0": "0", "-0": "0", "-0.0e5": "0", "0.000001": "0.000001", "1e-6": "0.000001", "12.50": "12.5", "1e3": "1000", "1.0E+2": "100",
			"0.10": "0.1", "0.3": "0.3", "999999999.999999": "999999999.999999",
			"1000000000": "1000000000", "1000000000.0000000000": "1000000000",
			"1e9": "1000000000", "4503599.627371": "4503599.627371", "0.1e1": "1", "100000e-11": "0.000001",
			"123456789.100000": "123456789.1",
		} {
			i++
			created := s.create(t, fmt.Sprintf(`{"name":"A","slug":"s%d","budget":{"usd":%s}}`, i, sent))
			answer := s.Patch(created.path(), `{"budget":{"usd":77}}`)
			answer.Is(t, 200, "")
			patched := resttest.Data[company](t, s.Patch(created.path(), `{"budget":{"usd":`+sent+`}}`))
			for _, c := range []company{created, patched, s.see(t, created)} {
				if string(c.Budget.USD) != shown {
					t.Errorf("%s is shown as %s, want %s", sent, c.Budget.USD, shown)
				}
			}
		}
		for sent, shown := range map[string]string{
			"100": "100", "100.00": "100", "1e2": "100", "0.01": "0.01", "12.50": "12.5", "-0": "0",
		} {
			i++
			created := s.create(t, fmt.Sprintf(`{"name":"A","slug":"s%d","budget":{"reservePercent":%s}}`, i, sent))
			if string(created.Budget.ReservePercent) != shown || string(s.see(t, created).Budget.ReservePercent) != shown {
				t.Errorf("%s %% is shown as %s, want %s", sent, created.Budget.ReservePercent, shown)
			}
		}
	})
}

func TestTextsAreMeasuredInCodePointsAfterNormalization(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for i, c := range []struct{ name, shown string }{
			{`Cafe\u0301`, "Caf\u00e9"},
			{strings.Repeat(`e\u0301`, 200), strings.Repeat("\u00e9", 200)},
			{strings.Repeat(`\ud83d\ude80`, 200), strings.Repeat("🚀", 200)},
			{`\u212b`, "\u00c5"},
			{`a'b\"c\\d%_;--`, `a'b"c\d%_;--`},
			{`\u00a0x\u00a0`, "x"},
			{`a\u200db`, "a\u200db"},
		} {
			answer := send(s.Client, "POST", "/v1/companies", fmt.Sprintf(`{"name":"%s","slug":"s%d"}`, c.name, i))
			created := resttest.Data[company](t, answer)
			if created.Name != c.shown || s.see(t, created).Name != c.shown {
				t.Errorf("%q is shown as %q", c.name, created.Name)
			}
		}
		longest := strings.Repeat("𝄞", 4000)
		acme := s.create(t, draft(t, `"slug":"`+strings.Repeat("x", 63)+`","description":"`+longest+`"`))
		if s.see(t, acme).Description != longest {
			t.Error("a description of 4,000 characters beyond the first plane does not come back")
		}
		send(s.Client, "PATCH", acme.path(), `{"description":"`+longest+`x"}`).Is(t, 422, "validation_failed")
	})
}
