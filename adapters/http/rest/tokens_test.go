package rest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
)

func TestATokenShowsItsValueOnCreateAndRotateOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.Post("/v1/tokens", `{"name":"ci","scopes":["read","company:acme:write"],"expiresAt":"2027-04-11T02:00:00+02:00"}`)
	created.Is(t, http.StatusCreated, "")
	token := resttest.Data[rest.Token](t, created)
	path := created.Header.Get("Location")
	if token.Token == nil || *token.ExpiresAt != "2027-04-11T00:00:00.000Z" || path != "/v1/tokens/"+token.ID {
		t.Errorf("%s", created.Body)
	}
	if diff := cmp.Diff([]string{"read", "company:" + string(companyID(1)) + ":write"}, token.Scopes); diff != "" {
		t.Error(diff)
	}

	shown := w.Get(path)
	if resttest.Data[rest.Token](t, shown).Token != nil || shown.Header.Get("ETag") == "" {
		t.Errorf("%s", shown.Body)
	}
	spared := w.Send(resttest.Request{Method: http.MethodGet, Path: path, Header: map[string]string{"If-None-Match": shown.Header.Get("ETag")}})
	spared.Is(t, http.StatusNotModified, "")

	rotated := w.Post(path+"/rotate", `{"graceSeconds":3600.0}`)
	rotated.Is(t, http.StatusOK, "")
	if resttest.Data[rest.Token](t, rotated).Token == nil || w.tokens.sawGrace != time.Hour {
		t.Errorf("%s, grace %s", rotated.Body, w.tokens.sawGrace)
	}
	if list := resttest.Data[[]rest.Token](t, w.Get("/v1/tokens")); len(list) != 1 || list[0].Token != nil {
		t.Errorf("%+v", list)
	}

	w.Delete(path).Is(t, http.StatusOK, "")
	if again := resttest.Data[rest.Token](t, w.Delete(path)); again.RevokedAt == nil {
		t.Errorf("%+v", again)
	}
	w.Post(path+"/rotate", "").Is(t, http.StatusConflict, "invalid_transition")
}

func TestWrongTokensAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ body, field, code string }{
		{`{"scopes":["read"]}`, "name", "required"},
		{`{"name":"ci"}`, "scopes", "required"},
		{`{"name":"ci","scopes":"read"}`, "scopes", "wrong_type"},
		{`{"name":"ci","scopes":[null]}`, "scopes.0", "not_null"},
		{`{"name":"ci","scopes":["root"]}`, "scopes.0", "unknown_value"},
		{`{"name":"ci","scopes":["company:nowhere:read"]}`, "scopes.0", "unknown_value"},
		{`{"name":"ci","scopes":["read"],"expiresAt":"tomorrow"}`, "expiresAt", "invalid_format"},
		{`{"name":"ci","scopes":["read"],"expiresAt":1800000000}`, "expiresAt", "wrong_type"},
		{`{"name":"ci","scopes":["read"],"expiresAt":"2026-04-11T10:42:17Z"}`, "expiresAt", "out_of_range"},
	} {
		answer := w.Send(resttest.Request{Method: http.MethodPost, Path: "/v1/tokens", Body: c.body, Wrong: true})
		answer.Is(t, http.StatusUnprocessableEntity, "validation_failed")
		if fields := answer.Error.Details.Fields; len(fields) != 1 || fields[0].Field != c.field || fields[0].Code != c.code {
			t.Errorf("%s: %+v", c.body, fields)
		}
	}
	w.Post("/v1/tokens", `{"name":"ci","scopes":["read"],"expiresAt":null}`).Is(t, http.StatusCreated, "")
}

func TestWrongRotationsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.Post("/v1/tokens", `{"name":"ci","scopes":["read"]}`).Header.Get("Location")
	for body, code := range map[string]string{
		`{"graceSeconds":-1}`:                  "out_of_range",
		`{"graceSeconds":2592001}`:             "out_of_range",
		`{"graceSeconds":9223372036854775807}`: "out_of_range",
		`{"graceSeconds":1e30}`:                "out_of_range",
		`{"graceSeconds":1.5}`:                 "wrong_type",
		`{"graceSeconds":null}`:                "not_null",
		`{"grace":1}`:                          "unknown_field",
	} {
		answer := w.Send(resttest.Request{Method: http.MethodPost, Path: path + "/rotate", Body: body, Wrong: true})
		answer.Is(t, http.StatusUnprocessableEntity, "validation_failed")
		if fields := answer.Error.Details.Fields; len(fields) != 1 || fields[0].Code != code {
			t.Errorf("%s: %+v", body, fields)
		}
	}
	w.Send(resttest.Request{Method: http.MethodPost, Path: "/v1/tokens/tok_x/rotate", Body: `{"grace":1}`, Wrong: true}).
		Is(t, http.StatusNotFound, "not_found")
}

func TestWhoamiAnswersAnyValidToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, token := range []string{"admin", "reader", "writer", "limited"} {
		who := resttest.Data[rest.Whoami](t, w.As(token).Get("/v1/whoami"))
		if who.Name != token || who.ExpiresAt != nil || len(who.Scopes) != 1 {
			t.Errorf("%s: %+v", token, who)
		}
	}
}
