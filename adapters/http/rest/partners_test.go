package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
)

const acmeData = `{"name":"Acme Data","origins":["https://app.acme.example","http://localhost:3000"],"expiresAt":"2027-04-11T02:00:00+02:00"}`

// admitted creates a partner and returns its path.
func admitted(t *testing.T, w *world) string {
	t.Helper()
	created := w.Post("/v1/partners", acmeData)
	created.Is(t, http.StatusCreated, "")
	return created.Header.Get("Location")
}

func TestAPartnerShowsItsKeyOnCreateAndRotateOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.Post("/v1/partners", acmeData)
	created.Is(t, http.StatusCreated, "")
	made := resttest.Data[rest.Partner](t, created)
	path := created.Header.Get("Location")
	if made.Key == nil || *made.ExpiresAt != "2027-04-11T00:00:00.000Z" || path != "/v1/partners/"+made.ID || created.Header.Get("ETag") != `"1"` {
		t.Errorf("%v %s", created.Header, created.Body)
	}
	rotated := w.Post(path+"/rotate", "")
	rotated.Is(t, http.StatusOK, "")
	if key := resttest.Data[rest.Partner](t, rotated).Key; key == nil || *key == *made.Key || rotated.Header.Get("ETag") != `"2"` {
		t.Errorf("%v %s", rotated.Header, rotated.Body)
	}
	for _, answer := range []resttest.Answer{w.Get(path), w.Patch(path, `{"name":"New"}`), w.Get("/v1/partners"), w.Delete(path), w.Delete(path)} {
		answer.Is(t, http.StatusOK, "")
		if strings.Contains(string(answer.Body), `"key"`) {
			t.Errorf("%s", answer.Body)
		}
	}
	if last := resttest.Data[rest.Partner](t, w.Get(path)); last.RevokedAt == nil || last.Name != "New" {
		t.Errorf("%+v", last)
	}
	w.Post(path+"/rotate", "").Is(t, http.StatusConflict, "invalid_transition")
	w.Patch(path, `{"name":"Newer"}`).Is(t, http.StatusConflict, "invalid_transition")
}

func TestKeysArePassedOverInKeptAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := resttest.Data[rest.Partner](t, w.Send(keyed("/v1/partners", acmeData, "k")))
	repeated := w.Send(keyed("/v1/partners", acmeData, "k"))
	repeated.Is(t, http.StatusCreated, "")
	again := resttest.Data[rest.Partner](t, repeated)
	if first.Key == nil || again.Key != nil || first.ID != again.ID || repeated.Header.Get("ETag") != `"1"` {
		t.Errorf("%+v, then %s", first, repeated.Body)
	}
	rotate := keyed("/v1/partners/"+first.ID+"/rotate", "", "r")
	rotated, again := resttest.Data[rest.Partner](t, w.Send(rotate)), resttest.Data[rest.Partner](t, w.Send(rotate))
	if rotated.Key == nil || again.Key != nil || again.Hint != rotated.Hint {
		t.Errorf("%+v, then %+v", rotated, again)
	}
}

func TestWrongPartnersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ body, field, code string }{
		{`{"origins":["https://a.b"]}`, "name", "required"},
		{`{"name":"A"}`, "origins", "required"},
		{`{"name":"A","origins":[]}`, "origins", "required"},
		{`{"name":"A","origins":null}`, "origins", "not_null"},
		{`{"name":"A","origins":"https://a.b"}`, "origins", "wrong_type"},
		{`{"name":"A","origins":["https://a.b",null]}`, "origins.1", "not_null"},
		{`{"name":"A","origins":["https://a.b/"]}`, "origins.0", "invalid_format"},
		{`{"name":"A","origins":["*"]}`, "origins.0", "invalid_format"},
		{`{"name":"A","origins":["https://a.b"` + strings.Repeat(`,"https://a.b"`, 20) + `]}`, "origins", "too_many"},
		{`{"name":"A","origins":["https://a.b"],"expiresAt":"tomorrow"}`, "expiresAt", "invalid_format"},
		{`{"name":"A","origins":["https://a.b"],"expiresAt":"2026-04-11T10:42:17Z"}`, "expiresAt", "out_of_range"},
		{`{"name":"A","origins":["https://a.b"],"key":"hcp_"}`, "key", "unknown_field"},
	} {
		answer := w.Send(wrong(http.MethodPost, "/v1/partners", c.body))
		answer.Is(t, http.StatusUnprocessableEntity, "validation_failed")
		if fields := answer.Error.Details.Fields; len(fields) != 1 || fields[0].Field != c.field || fields[0].Code != c.code {
			t.Errorf("%s: %+v", c.body, fields)
		}
	}
	if w.partners.all != nil {
		t.Error("something was created all the same")
	}
	w.Post("/v1/partners", `{"name":"A","origins":["https://a.b"],"expiresAt":null}`).Is(t, http.StatusCreated, "")
}

func TestAPatchOfAPartnerChangesWhatItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := admitted(t, w)
	for _, c := range []struct {
		body, etag string
		origins    []string
		expiresAt  *string
	}{
		{`{}`, `"1"`, []string{"https://app.acme.example", "http://localhost:3000"}, new("2027-04-11T00:00:00.000Z")},
		{`{"origins":["https://a.b","https://a.b"]}`, `"2"`, []string{"https://a.b"}, new("2027-04-11T00:00:00.000Z")},
		{`{"expiresAt":null}`, `"3"`, []string{"https://a.b"}, nil},
		{`{"name":"Acme Data"}`, `"3"`, []string{"https://a.b"}, nil},
		{`{"expiresAt":"2028-01-01T00:00:00Z"}`, `"4"`, []string{"https://a.b"}, new("2028-01-01T00:00:00.000Z")},
	} {
		patched := w.Patch(path, c.body)
		patched.Is(t, http.StatusOK, "")
		got := resttest.Data[rest.Partner](t, patched)
		if diff := cmp.Diff(c.origins, got.Origins) + cmp.Diff(c.expiresAt, got.ExpiresAt); diff != "" || patched.Header.Get("ETag") != c.etag {
			t.Errorf("%s: %s %s", c.body, patched.Header.Get("ETag"), diff)
		}
	}
	for body, code := range map[string]string{
		`{"hint":"hcp_...0000"}`:                     "immutable_field",
		`{"lastUsedAt":null,"name":null}`:            "immutable_field",
		`{"key":"x"}`:                                "immutable_field",
		`{"name":null}`:                              "validation_failed",
		`{"origins":null}`:                           "validation_failed",
		`{"origins":[]}`:                             "validation_failed",
		`{"expiresAt":0}`:                            "validation_failed",
		`{"expiresAt":""}`:                           "validation_failed",
		`{"expiresAt":"0001-01-01T00:00:00Z"}`:       "validation_failed",
		`{"graceSeconds":1}`:                         "validation_failed",
		`{"origins":["https://a.b","HTTPS://a.b"]}`:  "validation_failed",
		`{"origins":["https://a.b","https://a.b/"]}`: "validation_failed",
	} {
		w.Send(wrong(http.MethodPatch, path, body)).Is(t, http.StatusUnprocessableEntity, code)
	}
}

func TestAPartnerHasAVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := admitted(t, w)
	send := func(method, body, header, tag string) resttest.Answer {
		return w.Send(resttest.Request{Method: method, Path: path, Body: body, Header: map[string]string{header: tag}})
	}
	send(http.MethodGet, "", "If-None-Match", `"1"`).Is(t, http.StatusNotModified, "")
	send(http.MethodPatch, `{"name":"New"}`, "If-Match", `"2"`).Is(t, http.StatusPreconditionFailed, "precondition_failed")
	send(http.MethodPatch, `{"name":"New"}`, "If-Match", `"1"`).Is(t, http.StatusOK, "")
	send(http.MethodDelete, "", "If-Match", `"1"`).Is(t, http.StatusPreconditionFailed, "precondition_failed")
	send(http.MethodDelete, "", "If-Match", `"2"`).Is(t, http.StatusOK, "")
}

func TestAnOldKeyGoesOnForADayUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := admitted(t, w)
	for body, want := range map[string]time.Duration{
		``: 24 * time.Hour, `{}`: 24 * time.Hour, `{"graceSeconds":0}`: 0, `{"graceSeconds":2592000}`: 720 * time.Hour,
	} {
		w.Post(path+"/rotate", body).Is(t, http.StatusOK, "")
		if w.partners.sawGrace != want {
			t.Errorf("%s: %s", body, w.partners.sawGrace)
		}
	}
	for _, body := range []string{`{"graceSeconds":-1}`, `{"graceSeconds":2592001}`, `{"graceSeconds":1e30}`, `{"graceSeconds":null}`, `{"grace":1}`} {
		w.Send(wrong(http.MethodPost, path+"/rotate", body)).Is(t, http.StatusUnprocessableEntity, "validation_failed")
		w.Send(wrong(http.MethodPost, "/v1/partners/"+string(partnerID(9))+"/rotate", body)).Is(t, http.StatusNotFound, "not_found")
	}
}
