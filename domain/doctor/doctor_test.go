package doctor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/doctor"
	"holdco/domain/event"
)

var held = doctor.Finding{Company: "cmp_1", Rule: "account.held", About: "tm_1", Kept: "0.5", Should: "0"}

func TestAResultSaysWhatWasFoundAndWhatToDo(t *testing.T) {
	t.Parallel()
	tally := doctor.Finding{Rule: "tally", About: "cmp_1", Where: "company done", Kept: "7", Should: "8"}
	for _, c := range []struct {
		of       doctor.Result
		severity doctor.Severity
		message  string
	}{
		{doctor.Result{Seen: "companies: 3"}, doctor.OK, "companies: 3"},
		{doctor.Result{Broken: "not all was checked"}, doctor.Skipped, "not all was checked"},
		{doctor.Result{Failure: "the check failed"}, doctor.Error, "the check failed"},
		{
			doctor.Result{Count: 1, Fixed: 1, Examples: []doctor.Finding{tally}, Failure: "the check failed"}, doctor.Error,
			`repaired: 1; the first: tally of cmp_1 (company done) is "7" and should be "8"; the check failed`,
		},
		{
			doctor.Result{Name: "budgets", Count: 2, Fixable: 2, Worst: doctor.Error, Examples: []doctor.Finding{held, tally}},
			doctor.Error,
			`differences: 2; the first: account.held of tm_1 is "0.5" and should be "0"; to repair 2 run: ` +
				`holdco doctor --fix --only budgets`,
		},
		{
			doctor.Result{Count: 2, Fixed: 2, Examples: []doctor.Finding{tally}}, doctor.Note,
			`repaired: 2; the first: tally of cmp_1 (company done) is "7" and should be "8"`,
		},
		{
			doctor.Result{Count: 2, Fixed: 2, Examples: []doctor.Finding{held}, Broken: "no more"}, doctor.Skipped,
			`repaired: 2; the first: account.held of tm_1 is "0.5" and should be "0"; no more`,
		},
		{
			doctor.Result{Count: 1, Worst: doctor.Warning, Examples: []doctor.Finding{{Severity: doctor.Warning, Text: "make room"}}},
			doctor.Warning, "make room",
		},
		{
			doctor.Result{Count: 2, Worst: doctor.Warning, Examples: []doctor.Finding{{Text: "make room"}}, Broken: "no more"},
			doctor.Warning, "differences: 2; the first: make room; no more",
		},
		{
			doctor.Result{
				Seen: "tables: 4", Count: 4, Worst: doctor.Note,
				Examples: []doctor.Finding{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d"}},
			},
			doctor.Note, "tables: 4; a; b; c; and 1 more",
		},
		{
			doctor.Result{Count: 3, Fixed: 2, Worst: doctor.Error, Examples: []doctor.Finding{held}}, doctor.Error,
			`differences: 3; the first: account.held of tm_1 is "0.5" and should be "0"; repaired: 2; not to be repaired: 1, ` +
				`keep a copy of the store and report them`,
		},
	} {
		if c.of.Severity() != c.severity || c.of.Message() != c.message {
			t.Errorf("%s: %s; want %s: %s", c.of.Severity(), c.of.Message(), c.severity, c.message)
		}
	}
}

func TestAReportFailsByErrorsAndIfItIsStrictByWarnings(t *testing.T) {
	t.Parallel()
	report := doctor.Report{Checks: []doctor.Result{
		{Name: "a"},
		{Name: "b", Count: 1, Worst: doctor.Error, Examples: []doctor.Finding{held}},
		{Name: "c", Broken: "x"},
		{Name: "e", Count: 1, Worst: doctor.Warning, Examples: []doctor.Finding{held}},
		{Name: "f", Count: 1, Worst: doctor.Note, Examples: []doctor.Finding{held}},
		{Name: "d", Count: 1, Fixed: 1, Examples: []doctor.Finding{held}},
	}}
	if diff := cmp.Diff([]string{"b"}, report.Failed(false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b", "c", "e"}, report.Failed(true)); diff != "" {
		t.Error(diff)
	}
}

func TestAReportIsShownAsJSON(t *testing.T) {
	t.Parallel()
	report := doctor.Report{At: time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC), Checks: []doctor.Result{
		{Name: "budgets", Count: 1, Fixed: 1, Examples: []doctor.Finding{held}, Took: 1500 * time.Microsecond},
		{Name: "issues", Seen: "companies: 0"},
	}}
	const want = `{"checkedAt":"2026-04-11T00:00:00.000Z","version":"1.2","checks":[` +
		`{"name":"budgets","severity":"note","message":"repaired: 1; the first: account.held of tm_1 is \"0.5\" and should be \"0\"",` +
		`"count":1,"examples":[{"id":"tm_1","severity":"error","companyId":"cmp_1","rule":"account.held",` +
		`"where":"","kept":"0.5","should":"0",` +
		`"message":"account.held of tm_1 is \"0.5\" and should be \"0\""}],` +
		`"fixable":0,"fixed":1,"tookMs":1},` +
		`{"name":"issues","severity":"ok","message":"companies: 0","count":0,"examples":[],"fixable":0,"fixed":0,"tookMs":0}]}`
	if diff := cmp.Diff(want, string(report.Fields("1.2").Append(nil))); diff != "" {
		t.Error(diff)
	}
}

func TestARepairIsAnEventOfItsCompany(t *testing.T) {
	t.Parallel()
	got := doctor.Repaired("cmp_1", "issues", 2, []string{"tally"})
	if got.Type != event.StoreRepaired || got.Company != "cmp_1" || got.Subject != (event.Subject{Type: "company", ID: "cmp_1"}) ||
		string(got.Data.Append(nil)) != `{"check":"issues","count":2,"rules":["tally"]}` {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsBesideAllIsRepairedWithAnEventOfTheInstance(t *testing.T) {
	t.Parallel()
	got := doctor.Repaired("", "outbox", 1, []string{"queue.lease"})
	if got.Company != "" || got.Subject != (event.Subject{Type: "store", ID: "outbox"}) {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsFoundIsAddedUp(t *testing.T) {
	t.Parallel()
	var first, last doctor.Found
	for range 12 {
		first.Add(held, true)
	}
	last.Add(doctor.Finding{Severity: doctor.Warning, Text: "x"}, false)
	var result doctor.Result
	result.Conclude(first, last, 11)
	result.Conclude(first, first, 0)
	if result.Count != 24 || result.Fixed != 11 || result.Fixable != 12 || result.Worst != doctor.Error ||
		len(result.Examples) != doctor.MostExamples || result.Examples[0].Text != "x" {
		t.Errorf("%+v", result)
	}
}
