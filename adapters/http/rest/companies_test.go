package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
)

const acme = `{"name":"Acme","slug":"acme"}`

// found creates a company and returns its path.
func found(t *testing.T, w *world, body string) (path string, created resttest.Answer) {
	t.Helper()
	created = w.Post("/v1/companies", body)
	created.Is(t, http.StatusCreated, "")
	return created.Header.Get("Location"), created
}

func TestACompanyIsCreatedWithItsDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, created := found(t, w, acme)
	if tag := created.Header.Get("ETag"); tag != `"1"` {
		t.Errorf("ETag %s", tag)
	}
	shown := w.Get(path)
	shown.Is(t, http.StatusOK, "")
	if diff := cmp.Diff(string(created.Data), string(shown.Data)); diff != "" {
		t.Error(diff)
	}
	company := resttest.Data[rest.Company](t, created)
	if path != "/v1/companies/"+company.ID || company.DefaultAdapter != "process" || company.FiscalPeriod != "monthly" ||
		company.ArchivedAt != nil || company.Teams != nil {
		t.Errorf("%s", created.Data)
	}
}

func TestStartingTeamsAreEmbeddedAndTheAnswerHasNoTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, created := found(t, w, `{"name":"Acme","slug":"acme","startingTeams":[{"name":"Research","headcount":2},{"name":"Sales","headcount":0}]}`)
	company := resttest.Data[rest.Company](t, created)
	if company.TeamCount != 2 || len(*company.Teams) != 2 || len(*company.AgentSlots) != 2 || created.Header.Get("ETag") != "" {
		t.Errorf("%s", created.Data)
	}
	_, created = found(t, w, `{"name":"Empty","slug":"empty","startingTeams":[]}`)
	if !strings.Contains(string(created.Data), `"teams":[],"agentSlots":[]`) {
		t.Errorf("%s", created.Data)
	}
}

func TestFiguresKeepEveryDigit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, c := range []struct{ sent, shown string }{
		{`{"usd":0.1,"reservePercent":12.50}`, `"usd":0.1,"period":"monthly","reservePercent":12.5`},
		{`{"usd":999999999.999999}`, `"usd":999999999.999999,`},
		{`{"usd":1e3}`, `"usd":1000,`},
		{`{"usd":0.000001}`, `"usd":0.000001,`},
		{`{"usd":-0}`, `"usd":0,`},
	} {
		_, created := found(t, w, fmt.Sprintf(`{"name":"N","slug":"n-%d","budget":%s}`, i, c.sent))
		if !strings.Contains(string(created.Data), c.shown) {
			t.Errorf("%s is shown as %s", c.sent, created.Data)
		}
	}
}

func TestEveryFieldAtFaultIsToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Send(resttest.Request{Method: http.MethodPost, Path: "/v1/companies", Wrong: true, Body: `{
		"Name": "Acme", "slug": null, "description": 5, "fiscalPeriod": "yearly", "colour": {"a": [1]},
		"budget": {"usd": "10", "reservePercent": 101, "period": true, "eur": 1},
		"startingTeams": [{"name": "A", "headcount": 1.5}, {"name": 7, "headcount": 1e30}, {"headcount": 3.0}, {"name": "a", "headcount": 2}]
	}`})
	answer.Is(t, http.StatusUnprocessableEntity, "validation_failed")
	got := map[string]string{}
	for _, field := range answer.Error.Details.Fields {
		got[field.Field] = field.Code
	}
	want := map[string]string{
		"Name":                      "unknown_field",
		"name":                      "required",
		"slug":                      "not_null",
		"description":               "wrong_type",
		"fiscalPeriod":              "unknown_value",
		"colour":                    "unknown_field",
		"budget.usd":                "wrong_type",
		"budget.reservePercent":     "out_of_range",
		"budget.period":             "wrong_type",
		"budget.eur":                "unknown_field",
		"startingTeams.0.headcount": "wrong_type",
		"startingTeams.1.name":      "wrong_type",
		"startingTeams.1.headcount": "out_of_range",
		"startingTeams.2.name":      "required",
		"startingTeams.3.name":      "duplicate",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if w.companies.all != nil {
		t.Error("something was created all the same")
	}
}

func TestAPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, `{"name":"Acme","slug":"acme","budget":{"usd":10,"reservePercent":5}}`)

	patched := w.Patch(path, `{"budget":{"usd":20}}`)
	patched.Is(t, http.StatusOK, "")
	if !strings.Contains(string(patched.Data), `"usd":20,"period":"monthly","reservePercent":5`) || patched.Header.Get("ETag") != `"2"` {
		t.Errorf("%s %s", patched.Header.Get("ETag"), patched.Data)
	}
	if same := w.Patch(path, `{}`); same.Header.Get("ETag") != `"2"` {
		t.Errorf("an empty patch made version %s", same.Header.Get("ETag"))
	}
	merge := w.Send(resttest.Request{
		Method: http.MethodPatch, Path: path, Body: `{"name":"Acme Ltd."}`,
		Header: map[string]string{"Content-Type": "application/merge-patch+json; charset=UTF-8"},
	})
	merge.Is(t, http.StatusOK, "")

	for body, code := range map[string]string{
		`{"slug":"other"}`:                     "immutable_field",
		`{"slug":null,"nope":1,"name":5}`:      "immutable_field",
		`{"archivedAt":null}`:                  "immutable_field",
		`{"name":null}`:                        "validation_failed",
		`{"budget":null}`:                      "validation_failed",
		`{"budget":{"usd":-1}}`:                "budget_invalid",
		`{"budget":{"usd":-1},"name":""}`:      "validation_failed",
		`{"budget":{"reservePercent":100.01}}`: "budget_invalid",
		`{"defaultAdapter":"carrier-pigeon"}`:  "adapter_not_installed",
	} {
		w.Send(resttest.Request{Method: http.MethodPatch, Path: path, Body: body, Wrong: true}).
			Is(t, http.StatusUnprocessableEntity, code)
	}
}

func TestIfMatchGuardsEveryChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match string
		ok    bool
	}{
		{`"1"`, true},
		{`*`, true},
		{`"7", "1"`, true},
		{`"7","8"`, false},
		{`W/"1"`, false},
		{`"01"`, false},
		{`1`, false},
		{`"1`, false},
		{`"1" "2"`, false},
		{`"2"`, false},
	} {
		for _, action := range []string{"PATCH", "DELETE", "POST /archive"} {
			w := newWorld(t)
			path, _ := found(t, w, acme)
			method, suffix, _ := strings.Cut(action, " ")
			request := resttest.Request{Method: method, Path: path + suffix, Header: map[string]string{"If-Match": c.match}}
			if method == http.MethodPatch {
				request.Body = `{"name":"Other"}`
			}
			answer := w.Send(request)
			if c.ok {
				answer.Is(t, http.StatusOK, "")
			} else {
				answer.Is(t, http.StatusPreconditionFailed, "precondition_failed")
			}
		}
	}
}

func TestIfNoneMatchSparesWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	for match, want := range map[string]int{
		`"1"`: 304, `W/"1"`: 304, `*`: 304, `"0", "1"`: 304,
		`"2"`: 200, `1`: 200, `"1`: 200,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := w.Send(resttest.Request{Method: method, Path: path, Header: map[string]string{"If-None-Match": match}, Wrong: method == http.MethodHead})
			if answer.Status != want || answer.Header.Get("ETag") != `"1"` || want == 304 && len(answer.Body) > 0 {
				t.Errorf("%s with %s: %d, ETag %s, %s", method, match, answer.Status, answer.Header.Get("ETag"), answer.Body)
			}
		}
	}
	included := w.Send(resttest.Request{Method: http.MethodGet, Path: path + "?include=teams", Header: map[string]string{"If-None-Match": "*"}})
	if included.Status != http.StatusOK || included.Header.Get("ETag") != "" {
		t.Errorf("with include: %d, ETag %s", included.Status, included.Header.Get("ETag"))
	}
}

func TestIncludeEmbedsWhatItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, `{"name":"Acme","slug":"acme","startingTeams":[{"name":"Research","headcount":2}]}`)
	all := resttest.Data[rest.Company](t, w.Get(path+"?include=teams,agents,workflows,budgets"))
	if len(*all.Teams) != 1 || (*all.Teams)[0].Slug != "research" || len(*all.Agents)+len(*all.Workflows)+len(*all.Budgets) != 0 {
		t.Errorf("%+v", all)
	}
	some := resttest.Data[rest.Company](t, w.Get(path+"?include=budgets"))
	if some.Teams != nil || some.Agents != nil || some.Workflows != nil || some.Budgets == nil {
		t.Errorf("%+v", some)
	}
}

func TestMovesAreAnsweredWithTheCompany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	archived := w.Post(path+"/archive", "")
	archived.Is(t, http.StatusOK, "")
	if company := resttest.Data[rest.Company](t, archived); company.Status != "archived" || *company.RestorableUntil != "2026-05-11T10:42:17.000Z" {
		t.Errorf("%s", archived.Data)
	}
	w.Post(path+"/archive", "").Is(t, http.StatusConflict, "invalid_transition")
	w.Patch(path, `{"name":"Other"}`).Is(t, http.StatusConflict, "company_archived")
	restored := w.Post(path+"/restore", "")
	restored.Is(t, http.StatusOK, "")
	if company := resttest.Data[rest.Company](t, restored); company.Status != "active" || company.ArchivedAt != nil {
		t.Errorf("%s", restored.Data)
	}

	w.companies.ongoing = true
	w.Delete(path).Is(t, http.StatusAccepted, "")
	w.companies.ongoing = false
	deleted := w.Delete(path)
	deleted.Is(t, http.StatusOK, "")
	if company := resttest.Data[rest.Company](t, deleted); company.Status != "deleting" {
		t.Errorf("%s", deleted.Data)
	}
	w.Patch(path, `{}`).Is(t, http.StatusConflict, "invalid_transition")
}

func TestPagesFollowTheirCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		found(t, w, fmt.Sprintf(`{"name":"N","slug":"n-%d"}`, i))
	}
	var slugs []string
	path := "/v1/companies?limit=2"
	for path != "" {
		answer := w.Get(path)
		answer.Is(t, http.StatusOK, "")
		for _, company := range resttest.Data[[]rest.Company](t, answer) {
			slugs = append(slugs, company.Slug)
		}
		if answer.Meta.Page.Size != 2 {
			t.Errorf("size %d", answer.Meta.Page.Size)
		}
		path = ""
		if cursor := answer.Meta.Page.Cursor; cursor != nil {
			path = "/v1/companies?limit=2&cursor=" + *cursor
		}
	}
	if diff := cmp.Diff([]string{"n-4", "n-3", "n-2", "n-1", "n-0"}, slugs); diff != "" {
		t.Error(diff)
	}
}

func TestACursorHoldsForItsListOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 2 {
		found(t, w, fmt.Sprintf(`{"name":"N","slug":"n-%d"}`, i))
	}
	cursor := *w.Get("/v1/companies?limit=1").Meta.Page.Cursor
	w.Get("/v1/companies?limit=50&status=active&cursor="+cursor).Is(t, http.StatusOK, "")
	for _, path := range []string{
		"/v1/companies?status=archived&cursor=" + cursor,
		"/v1/companies?slug=n-0&cursor=" + cursor,
		"/v1/tokens?cursor=" + cursor,
		"/v1/companies?cursor=" + cursor[1:],
		"/v1/companies?cursor=" + cursor + "A",
		"/v1/companies?cursor=" + cursor + "%3D",
		"/v1/companies?cursor=0",
		"/v1/companies?cursor=" + strings.Repeat("A", 5000),
	} {
		w.Get(path).Is(t, http.StatusBadRequest, "invalid_cursor")
	}
}

func TestAListIsFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	if list := w.Get("/v1/companies"); list.Meta.Page.Size != 50 || list.Meta.Page.Cursor != nil || w.companies.sawList.Status != "active" {
		t.Errorf("%s, asked for %+v", list.Body, w.companies.sawList)
	}
	w.Post(path+"/archive", "")
	for query, want := range map[string]int{
		"": 0, "?status=active": 0, "?status=archived": 1, "?status=archived&slug=acme": 1, "?status=archived&slug=Ac%20me": 0,
	} {
		answer := w.Get("/v1/companies" + query)
		if list := resttest.Data[[]rest.Company](t, answer); len(list) != want || list == nil {
			t.Errorf("%s: %s", query, answer.Data)
		}
	}
}

func FuzzCursor(f *testing.F) {
	w := newWorld(f)
	for _, cursor := range []string{"0", "AAAA", "=", strings.Repeat("A", 5000)} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		answer := w.In(t).Send(resttest.Request{Method: http.MethodGet, Path: "/v1/companies?cursor=" + url.QueryEscape(cursor), Wrong: true})
		if answer.Status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", cursor, answer.Status, answer.Body)
		}
	})
}
