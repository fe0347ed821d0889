package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

func TestOfSeveralFaultsTheFirstIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	archived, _ := found(t, w, `{"name":"Old","slug":"old"}`)
	w.Post(archived+"/archive", "").Is(t, http.StatusOK, "")
	missing := "/v1/companies/" + string(companyID(99))
	hook, noHook := subscribed(t, w, `{"url":"https://example.com"}`), "/v1/webhooks/"+string(webhookID(99))
	revoked, noPartner := admitted(t, w), "/v1/partners/"+string(partnerID(99))
	w.Delete(revoked).Is(t, http.StatusOK, "")
	huge := `{"name":"` + strings.Repeat("x", 1<<20) + `"`
	plain := map[string]string{"Content-Type": "text/plain", "If-Match": `"9"`}
	stale := map[string]string{"If-Match": `"9"`}

	for _, c := range []struct {
		name   string
		token  string
		method string
		path   string
		body   string
		header map[string]string
		status int
		code   string
	}{
		{"path before token", "", "PATCH", "/v1/companys?x=1", huge, plain, 404, "not_found"},
		{"trailing slash", "admin", "GET", "/v1/companies/", "", nil, 404, "not_found"},
		{"double slash", "", "GET", "//v1/companies", "", nil, 404, "not_found"},
		{"empty id", "", "POST", "/v1/companies//archive", "", nil, 404, "not_found"},
		{"other case", "admin", "GET", "/V1/companies", "", nil, 404, "not_found"},
		{"root", "", "GET", "/", "", nil, 404, "not_found"},
		{"encoded slash is no slash", "admin", "GET", path + "%2Farchive", "", nil, 404, "not_found"},
		{"method before token", "", "PUT", path + "?x=1", huge, plain, 405, "method_not_allowed"},
		{"token before scope", "", "PATCH", path + "?x=1", huge, plain, 401, "unauthorized"},
		{"token before scope", "nobody", "PATCH", path + "?x=1", huge, plain, 401, "unauthorized"},
		{"scope before size", "reader", "PATCH", path + "?x=1", huge, plain, 403, "insufficient_scope"},
		{"scope before JSON, where one company is too little", "limited", "POST", "/v1/companies", "[", nil, 403, "insufficient_scope"},
		{"scope before existence", "writer", "DELETE", missing, "", nil, 403, "insufficient_scope"},
		{"size before media type", "writer", "PATCH", missing + "?x=1", huge, plain, 413, "payload_too_large"},
		{"media type before JSON", "writer", "PATCH", missing + "?x=1", "[", plain, 415, "unsupported_media_type"},
		{"JSON before query", "writer", "PATCH", missing + "?x=1", "[", stale, 400, "invalid_json"},
		{"query before existence", "writer", "PATCH", missing + "?x=1", `{"id":1}`, stale, 400, "invalid_parameter"},
		{"existence before If-Match", "writer", "PATCH", missing, `{"id":1}`, stale, 404, "not_found"},
		{"an id of another kind does not exist", "writer", "PATCH", "/v1/companies/" + string(tokenID(1)), `{"id":1}`, stale, 404, "not_found"},
		{"If-Match before state", "writer", "PATCH", archived, `{"id":1}`, stale, 412, "precondition_failed"},
		{"state before immutable fields", "writer", "PATCH", archived, `{"id":1}`, nil, 409, "company_archived"},
		{"immutable before other fields", "writer", "PATCH", path, `{"id":1,"name":"","budget":{"usd":-1}}`, nil, 422, "immutable_field"},
		{"fields before budget", "writer", "PATCH", path, `{"name":"","budget":{"usd":-1}}`, nil, 422, "validation_failed"},
		{"budget before adapter", "writer", "PATCH", path, `{"defaultAdapter":"x","budget":{"usd":-1}}`, nil, 422, "budget_invalid"},
		{"adapter before slug", "writer", "POST", "/v1/companies", `{"name":"A","slug":"acme","defaultAdapter":"x"}`, nil, 422, "adapter_not_installed"},
		{"query before existence", "admin", "GET", noHook + "/deliveries?status=lost", "", nil, 400, "invalid_parameter"},
		{"cursor before existence", "admin", "GET", noHook + "/deliveries?cursor=x", "", nil, 400, "invalid_cursor"},
		{"existence before If-Match", "admin", "PATCH", noHook, `{"id":1}`, stale, 404, "not_found"},
		{"If-Match before immutable fields", "admin", "PATCH", hook, `{"id":1}`, stale, 412, "precondition_failed"},
		{"immutable before other fields", "admin", "PATCH", hook, `{"companyId":null,"url":7,"events":[]}`, nil, 422, "immutable_field"},
		{"existence before If-Match", "admin", "PATCH", noPartner, `{"id":1}`, stale, 404, "not_found"},
		{"an id of another kind does not exist", "admin", "GET", "/v1/partners/" + string(tokenID(1)), "", nil, 404, "not_found"},
		{"If-Match before immutable fields", "admin", "PATCH", revoked, `{"id":1}`, stale, 412, "precondition_failed"},
		{"immutable before other fields", "admin", "PATCH", revoked, `{"hint":"","name":""}`, nil, 422, "immutable_field"},
		{"fields before state", "admin", "PATCH", revoked, `{"name":""}`, nil, 422, "validation_failed"},
		{"scope before existence", "writer", "GET", noPartner, "", nil, 403, "insufficient_scope"},
		{"slug last", "writer", "POST", "/v1/companies", acme, nil, 409, "slug_in_use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer := w.As(c.token).In(t).Send(resttest.Request{
				Method: c.method, Path: c.path, Body: c.body, Header: c.header, Wrong: true,
			})
			answer.Is(t, c.status, c.code)
		})
	}
}

func TestEveryPathTellsItsMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	for _, c := range []struct{ path, allow string }{
		{"/v1/companies", "GET, HEAD, OPTIONS, POST"},
		{path, "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{path + "/archive", "OPTIONS, POST"},
		{"/v1/whoami", "GET, HEAD, OPTIONS"},
		{"/healthz", "GET, HEAD, OPTIONS"},
		{"/openapi.json", "GET, HEAD, OPTIONS"},
	} {
		options := w.As("").Send(resttest.Request{Method: http.MethodOptions, Path: c.path, Wrong: true})
		refused := w.As("").Send(resttest.Request{Method: "BREW", Path: c.path, Wrong: true})
		refused.Is(t, http.StatusMethodNotAllowed, "method_not_allowed")
		for _, answer := range []resttest.Answer{options, refused} {
			if got := sorted(answer.Header.Get("Allow")); got != c.allow {
				t.Errorf("%s allows %s, want %s", c.path, got, c.allow)
			}
		}
	}
	w.Send(resttest.Request{Method: http.MethodOptions, Path: "/v1/nothing", Wrong: true}).Is(t, http.StatusNotFound, "not_found")
}

func TestHeadIsGetWithoutItsBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	for _, path := range []string{path, path + "?include=teams", "/v1/companies", "/v1/whoami", "/healthz", "/readyz", "/openapi.json", "/v1/companies/x"} {
		get := w.Send(resttest.Request{Method: http.MethodGet, Path: path, Wrong: true})
		head := w.Send(resttest.Request{Method: http.MethodHead, Path: path, Wrong: true})
		if head.Status != get.Status || len(head.Body) != 0 || head.Header.Get("ETag") != get.Header.Get("ETag") ||
			head.Header.Get("Content-Length") != get.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: %d %v, GET: %d %v", path, head.Status, head.Header, get.Status, get.Header)
		}
	}
	w.As("writer").Send(resttest.Request{Method: http.MethodHead, Path: path, Wrong: true}).Is(t, http.StatusForbidden, "")
}

func TestTheLimitComesAfterTheTokenAndBeforeTheScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limiter.full = true
	for _, c := range []struct {
		token, method, path string
		status              int
		code                string
	}{
		{"writer", "GET", "/v1/companies?x=1", 429, "rate_limited"},
		{"reader", "DELETE", "/v1/companies/x", 429, "rate_limited"},
		{"reader", "GET", "/v1/whoami", 429, "rate_limited"},
		{"nobody", "GET", "/v1/whoami", 429, "rate_limited"},
		{"reader", "GET", "/v1/nothing", 404, "not_found"},
		{"reader", "PUT", "/v1/companies", 405, "method_not_allowed"},
		{"", "GET", "/healthz", 200, ""},
	} {
		answer := w.As(c.token).Send(resttest.Request{Method: c.method, Path: c.path, Wrong: true})
		answer.Is(t, c.status, c.code)
	}
}
