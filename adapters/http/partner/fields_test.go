package partner_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/partner/partnertest"
	"holdco/domain/fault"
	"holdco/domain/lead"
)

func table(path string) partnertest.Request {
	return partnertest.Request{Path: path, Header: map[string]string{"Accept": "text/csv"}}
}

func TestTheDocumentNamesAllFieldsOfALead(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	var named []string
	for _, name := range document.Components.Parameters["Fields"].Value.Schema.Value.Items.Value.Enum {
		named = append(named, name.(string))
	}
	if diff := cmp.Diff(lead.FieldNames(), named); diff != "" {
		t.Error(diff)
	}
	shown := document.Components.Schemas["Lead"].Value
	if diff := cmp.Diff(lead.FieldNames(), shown.Required); diff != "" || len(shown.Properties) != len(named) {
		t.Errorf("%d fields are described; %s", len(shown.Properties), diff)
	}
}

func TestALeadHasTheFieldsThatAreWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const fields = "fields=email,name,industry"
	const want = `{"id":"cmp_01km3g0000e000000000000001","name":"Blue \"Door\" <Dental>","email":"hello@bluedoor.example",` +
		`"industry":{"id":"ind_health","name":"Health & care","slug":"health-care"}}`
	one := w.Get("leads/" + string(leadID(1)) + "?" + fields)
	one.Is(t, 200, "")
	if diff := cmp.Diff(want, string(one.Data)); diff != "" {
		t.Error(diff)
	}
	if got := string(w.Get("leads?per_page=1&" + fields).Data); got != "["+want+"]" {
		t.Errorf("the page has %s", got)
	}
	if got := w.Stream("leads?" + fields)[0]; got != want {
		t.Errorf("the stream has %s", got)
	}
	changed(w)
	if got := string(w.Get("leads/changes?" + fields).Data); !strings.Contains(got, `"lead":`+want+"}") {
		t.Errorf("the changes have %s", got)
	}
	if got := string(w.Get("leads/" + string(leadID(2)) + "?fields=id").Data); got != `{"id":"`+string(leadID(2))+`"}` {
		t.Errorf("of nothing but the id there is %s", got)
	}
	all := w.Get("leads")
	if named := w.Get("leads?fields=" + strings.Join(lead.FieldNames(), ",")); string(named.Data) != string(all.Data) {
		t.Errorf("of all fields there are %s", named.Data)
	}
}

func TestFieldsThatThereAreNotAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := strings.Join(lead.FieldNames(), ", ")
	for fields, want := range map[string]string{
		"name,emial": "fields must hold items separated by commas, each of which must be one of " + all +
			`; the nearest to "emial" is email.`,
		"industry_id": "fields must hold items separated by commas, each of which must be one of " + all +
			`; the nearest to "industry_id" is industry.`,
		"colour":    "fields must hold items separated by commas, each of which must be one of " + all + ".",
		"name,":     "fields must hold items separated by commas, each of which must be one of " + all + ".",
		"":          "fields is empty.",
		"name,name": "fields names an item twice.",
	} {
		for _, path := range []string{"leads", "leads/" + string(leadID(1)), "leads/changes"} {
			for _, accept := range []string{"application/json", lines, "text/csv"} {
				answer := w.Wrong(path+"?fields="+fields, "Accept", accept)
				answer.Blames(t, "fields")
				if answer.Error.Message != want {
					t.Errorf("%s of %s: %s", fields, path, answer.Error.Message)
				}
			}
		}
	}
	w.Wrong("leads/removed?fields=id").Blames(t, "fields")
}

func TestFieldsAreNoFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 30)
	first := w.Get("leads?per_page=10&fields=name")
	if first.Pagination.Total != 30 || len(first.IDs(t)) != 10 {
		t.Errorf("%s", first.Body)
	}
	var ids []string
	next := first
	for _, fields := range []string{"", "&fields=email,contacts", "&fields=id"} {
		next.Is(t, 200, "")
		ids = append(ids, next.IDs(t)...)
		if next.Pagination.NextCursor == nil {
			break
		}
		next = w.Get("leads?per_page=10&cursor=" + *next.Pagination.NextCursor + fields)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(unique) != 30 {
		t.Errorf("%d leads", len(unique))
	}
	changed(w)
	feed := w.Get("leads/changes?per_page=1&fields=name")
	var page struct {
		Pagination struct {
			NextCursor string `json:"next_cursor"`
		}
	}
	if err := json.Unmarshal(feed.Body, &page); err != nil {
		t.Fatal(err)
	}
	w.Get("leads/changes?fields=email&cursor="+page.Pagination.NextCursor).Is(t, 200, "")
}

func TestAnswersWithOtherFieldsHaveOtherTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"leads", "leads/" + string(leadID(1))} {
		whole := w.Get(path).Header.Get("ETag")
		some := w.Get(path+"?fields=name", "If-None-Match", whole)
		some.Is(t, 200, "")
		w.Get(path+"?fields=name", "If-None-Match", some.Header.Get("ETag")).Is(t, 304, "")
		w.Get(path+"?fields=name,phone", "If-None-Match", some.Header.Get("ETag")).Is(t, 200, "")
		w.Get(path, "If-None-Match", some.Header.Get("ETag")).Is(t, 200, "")
	}
}

func TestAKeyWithoutContactsIsShownNoneWhenItAsksForThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys.change(func() { w.keys.view = lead.View{NoContacts: true} })
	const want = `{"id":"cmp_01km3g0000e000000000000001","contacts":[]}`
	if got := string(w.Get("leads/" + string(leadID(1)) + "?fields=contacts").Data); got != want {
		t.Error(got)
	}
	got := string(w.Send(table("leads?fields=contacts")).Body)
	if !strings.Contains(got, "contacts.0.name") || strings.Contains(got, "Ada") {
		t.Error(got)
	}
}

func TestATableHasAHeaderAndALeadInEachLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 250)
	answer := w.Send(table("leads?fields=phone,name,vertical"))
	answer.Is(t, 200, "")
	rows := answer.Lines()
	if len(rows) != 251 || answer.Body[len(answer.Body)-1] != '\n' {
		t.Fatalf("%d lines", len(rows))
	}
	want := []string{
		"id,name,phone,vertical.id,vertical.name,vertical.slug",
		`cmp_01km3g0000e000000000000001,"Blue ""Door"" <Dental>",'+4930901820,vrt_dentists,Dentists,dentists`,
		"cmp_01km3g0000e000000000000002,Nobody knows,,,,",
	}
	if diff := cmp.Diff(want, rows[:3]); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/csv; charset=utf-8", "Cache-Control": "no-store", "ETag": "", "Content-Length": "",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	head := table("leads")
	head.Method = http.MethodHead
	if answer := w.Send(head); answer.Status != 200 || answer.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("%d %v", answer.Status, answer.Header)
	}
	rest := w.Send(table("leads?fields=phone,name,vertical&after=" + string(leadID(200))))
	if diff := cmp.Diff(rows[201:], rest.Lines()); diff != "" {
		t.Error(diff)
	}
	none := w.Send(table("leads?fields=name&enrichment_level=basic"))
	if string(none.Body) != "id,name\n" {
		t.Errorf("of no leads there are %q", none.Body)
	}
	if none = w.Send(table("leads?after=" + string(leadID(250)))); none.Status != 200 || len(none.Body) > 0 {
		t.Errorf("after the last lead there are %q", none.Body)
	}
}

func TestATableThatFailsAtOnceIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.err = fault.New(fault.Unavailable, "Later.")
	w.export.leads = nil
	w.Send(table("leads")).Is(t, 503, "unavailable")
}

func TestAClientSaysInWhichFormItWantsLeads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const page, csv = "application/json; charset=utf-8", "text/csv; charset=utf-8"
	for _, c := range []struct{ format, accept, want string }{
		{"", "text/csv", csv},
		{"", "Text/CSV; charset=utf-8", csv},
		{"", "text/csv;q=0.5, application/x-ndjson", lines},
		{"", "application/json, text/csv", page},
		{"", "text/*", page},
		{"csv", "", csv},
		{"csv", "application/json", csv},
		{"ndjson", "text/csv", lines},
		{"json", "text/csv", page},
	} {
		path := "leads"
		if c.format != "" {
			path += "?format=" + c.format
		}
		answer := w.Get(path, "Accept", c.accept)
		if got := answer.Header.Get("Content-Type"); got != c.want || !slices.Contains(answer.Header.Values("Vary"), "Accept") {
			t.Errorf("format %q, Accept %q: %s %v", c.format, c.accept, got, answer.Header.Values("Vary"))
		}
	}
	for _, c := range []struct{ path, parameter string }{
		{"leads?format=xml", "format"}, {"leads?format=csv&page=1", "page"}, {"leads?format=csv&per_page=1", "per_page"},
		{"leads?format=ndjson&cursor=x", "cursor"}, {"leads?format=json&after=cmp_1", "after"}, {"leads?format=csv&after=cmp_x", "after"},
		{"leads/changes?format=csv", "format"}, {"leads/" + string(leadID(1)) + "?format=csv", "format"},
	} {
		w.Wrong(c.path).Blames(t, c.parameter)
	}
	if got := w.Get("leads/changes", "Accept", "text/csv").Header.Get("Content-Type"); got != page {
		t.Errorf("changes come as %s", got)
	}
}
