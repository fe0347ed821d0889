package lead_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/lead"
)

var someFile = lead.ImportDraft{Kind: lead.ImportLeads, Format: lead.CSV}

func newImport(t *testing.T) lead.Import {
	t.Helper()
	made, happened, err := lead.NewImport("imp_1", someFile, 7, nil, noon, noon)
	if err != nil || happened.Type != event.ImportStarted || happened.Subject != (event.Subject{Type: "import", ID: "imp_1"}) {
		t.Fatalf("%+v, %v", happened, err)
	}
	return made
}

func TestADraftOfAnImportIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*lead.ImportDraft)
		want   fault.Code
	}{
		{func(*lead.ImportDraft) {}, ""},
		{func(d *lead.ImportDraft) { d.Kind = lead.ImportCampaigns }, ""},
		{func(d *lead.ImportDraft) { d.Kind, d.Format = lead.ImportTaxonomy, lead.JSON }, ""},
		{func(d *lead.ImportDraft) { d.Name = strings.Repeat("ä", lead.ImportNameLength) }, ""},
		{func(d *lead.ImportDraft) { d.Name = strings.Repeat("ä", lead.ImportNameLength+1) }, fault.InvalidParameter},
		{func(d *lead.ImportDraft) { d.Name = "a\nb" }, fault.InvalidParameter},
		{func(d *lead.ImportDraft) { d.Kind = "" }, fault.InvalidParameter},
		{func(d *lead.ImportDraft) { d.Kind = "lead" }, fault.InvalidParameter},
		{func(d *lead.ImportDraft) { d.Kind = lead.ImportTaxonomy }, fault.UnsupportedMediaType},
		{func(d *lead.ImportDraft) { d.Kind, d.Format, d.KeepTimestamps = lead.ImportTaxonomy, lead.JSON, true }, fault.InvalidParameter},
	} {
		draft := someFile
		c.change(&draft)
		if _, err := draft.Parse(); fault.CodeOf(err) != c.want {
			t.Errorf("%+v: %v", draft, err)
		}
	}
	if got, err := (lead.ImportDraft{Kind: lead.ImportLeads, Name: "  a.csv "}).Parse(); err != nil || got.Name != "a.csv" {
		t.Errorf("%q, %v", got.Name, err)
	}
}

func TestOneImportRunsAtATime(t *testing.T) {
	t.Parallel()
	first := newImport(t)
	_, _, err := lead.NewImport("imp_2", someFile, 7, []lead.Import{first}, noon, noon.Add(lead.ImportLease-1))
	if refused := fault.Of(err); refused == nil || refused.Code != fault.ImportRunning || refused.Details["importId"] != "imp_1" ||
		refused.RetryAfter != 1 {
		t.Errorf("%v", err)
	}
	if _, _, err := lead.NewImport("imp_2", someFile, 7, []lead.Import{first}, noon, noon.Add(lead.ImportLease)); err != nil {
		t.Errorf("after its lease: %v", err)
	}
	later, err := first.Advance(lead.ImportProgress{Lines: 1}, noon.Add(time.Second))
	end := noon.Add(lead.ImportLease)
	if err != nil || later.Lapsed(end) || !later.Lapsed(end.Add(time.Second)) || later.Version != 2 {
		t.Errorf("%+v, %v", later, err)
	}
}

func TestAnImportEndsOnce(t *testing.T) {
	t.Parallel()
	given, happened, err := newImport(t).GiveUp(noon.Add(time.Minute))
	if err != nil || given.Status != lead.ImportInterrupted || given.Code != "" || given.Problem == "" ||
		happened.Type != event.ImportEnded || !given.EndedAt.Equal(noon.Add(time.Minute)) || given.Lapsed(noon.Add(time.Hour)) {
		t.Errorf("%+v, %v", given, err)
	}
	if _, _, err := given.End(lead.ImportOutcome{Status: lead.ImportDone}, noon); fault.CodeOf(err) != fault.InvalidTransition {
		t.Errorf("it ended again: %v", err)
	}
	if _, err := given.Advance(lead.ImportProgress{}, noon); fault.CodeOf(err) != fault.InvalidTransition {
		t.Errorf("it went on: %v", err)
	}
}

func TestHowAnImportEndedFollowsFromItsError(t *testing.T) {
	t.Parallel()
	strict, taxonomy := someFile, lead.ImportDraft{Kind: lead.ImportTaxonomy, Format: lead.JSON}
	strict.Strict = true
	rehearsed := strict
	rehearsed.DryRun = true
	some := lead.ImportProgress{ImportCount: lead.ImportCount{Read: 2, Rejected: 1}}
	for _, c := range []struct {
		draft  lead.ImportDraft
		err    error
		status lead.ImportStatus
		code   fault.Code
		says   string
	}{
		{someFile, nil, lead.ImportDone, "", ""},
		{rehearsed, nil, lead.ImportDone, "", ""},
		{strict, nil, lead.ImportFailed, fault.ValidationFailed, "nothing was imported"},
		{someFile, fault.New(fault.InvalidFile, "The file is cut off."), lead.ImportFailed, fault.InvalidFile, "The file is cut off."},
		{taxonomy, fault.New(fault.ValidationFailed, "The request"), lead.ImportFailed, fault.ValidationFailed, "The taxonomy"},
		{someFile, errors.New("secret"), lead.ImportFailed, fault.Internal, "Internal error"},
		{someFile, fault.New(fault.Internal, "secret"), lead.ImportFailed, fault.Internal, "Internal error"},
	} {
		got := lead.ImportEnded(c.draft, some, c.err)
		if got.Status != c.status || got.Code != c.code || !strings.Contains(got.Problem, c.says) ||
			strings.Contains(got.Problem, "secret") || got.Progress != some {
			t.Errorf("%+v, %v: %+v", c.draft, c.err, got)
		}
	}
}

func TestOfALineTheFirstFieldsAreKept(t *testing.T) {
	t.Parallel()
	line := lead.ReportedLine{Number: 1, Problems: make(fault.Problems, lead.ImportFieldsKept+1)}
	if got := line.Kept(); len(got.Problems) != lead.ImportFieldsKept || len(line.Problems) != lead.ImportFieldsKept+1 {
		t.Errorf("%d of %d", len(got.Problems), len(line.Problems))
	}
	got, err := line.Kept().Fields()[1:3].MarshalJSON()
	if err != nil || string(got) != `{"item":null,"id":null}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestOfALineNoValueIsKept(t *testing.T) {
	t.Parallel()
	_, err := lead.Draft{Name: "Acme", Website: "secret 1", Phone: "secret 2", Email: "secret 3", Rating: "secret 4"}.
		Read(catalog, lead.Rules{Region: "DE"})
	_, regionless := lead.Draft{Name: "Acme", Phone: "secret 5"}.Lead(catalog)
	_, unknown := lead.Draft{
		Name: "Acme", Campaigns: []string{"cam_secret-anna"}, Industry: "ind_secret-anna", Vertical: "vrt_secret-anna",
		Problems: fault.Problems{
			fault.Fieldf("contacts.0.secret@acme.example", fault.UnknownField, "contacts.0.secret@acme.example is not a field here"),
		},
	}.Lead(catalog)
	_, nowhere := lead.CampaignDraft{ID: "cam_1", Name: "Spring", Geography: "geo_secret-anna"}.Campaign(catalog)
	if len(fault.Of(unknown).Fields) != 4 {
		t.Errorf("%v", unknown)
	}
	for _, err := range []error{err, regionless, unknown, nowhere} {
		line := lead.ReportedLine{Number: 1, ID: "secret@acme.example", Problems: fault.Of(err).Fields}
		for _, field := range line.Kept().Problems {
			if strings.Contains(field.Path+field.Message+field.Quoted, "secret") || field.Message == "" {
				t.Errorf("%+v", field)
			}
		}
		if line.Kept().ID != "" || !strings.Contains(line.Problems[0].Message, "secret") {
			t.Errorf("%+v", line)
		}
	}
	for _, which := range []string{"cmp_1", "cam_1"} {
		if got := (lead.ReportedLine{ID: which}).Kept().ID; got != which {
			t.Errorf("%s: %s", which, got)
		}
	}
}
