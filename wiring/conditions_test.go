package wiring_test

import (
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

func TestOfSeveralFaultsTheFirstIsTold(t *testing.T) {
	t.Parallel()
	huge := `{"name":"` + strings.Repeat("x", 1<<20) + `"`
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		old := s.create(t, named("old"))
		s.Post(old.path()+"/archive", "").Is(t, 200, "")
		none := strings.Repeat("0", 26)
		missing, noHook, noPartner := "/v1/companies/cmp_"+none, "/v1/webhooks/whk_"+none, "/v1/partners/prt_"+none
		hook := s.Post("/v1/webhooks", `{"url":"https://example.com"}`).Header.Get("Location")
		issue := s.file(t, acme, "").path()
		noIssue := acme.path() + "/issues/iss_" + none
		revoked := s.admit(t).path()
		s.Delete(revoked).Is(t, 200, "")
		clients := map[string]*resttest.Client{
			"nobody": s.As(""), "stranger": s.As("hco_x"), "reader": s.with(t, "read"), "writer": s.with(t, "write"),
			"elsewhere": s.with(t, "company:old:write"), "admin": s.Client,
		}
		text, stale := []string{"Content-Type", "text/plain"}, []string{"If-Match", `"99"`}
		badKey := []string{"Idempotency-Key", "a b"}
		for _, c := range []struct {
			rule, client, method, path, body string
			header                           []string
			status                           int
			code                             string
		}{
			{"path before token", "nobody", "PATCH", "/v1/companys?x=1", huge, text, 404, "not_found"},
			{"method before token", "nobody", "PUT", acme.path() + "?x=1", huge, text, 405, "method_not_allowed"},
			{"token before scope", "stranger", "PATCH", acme.path() + "?x=1", huge, text, 401, "unauthorized"},
			{"token before existence", "nobody", "GET", missing, "", nil, 401, "unauthorized"},
			{"scope before size", "reader", "PATCH", acme.path() + "?x=1", huge, text, 403, "insufficient_scope"},
			{"scope before existence", "reader", "PATCH", missing, "{}", nil, 403, "insufficient_scope"},
			{"scope before existence", "writer", "DELETE", missing, "", nil, 403, "insufficient_scope"},
			{"size before media type", "writer", "PATCH", missing + "?x=1", huge, text, 413, "payload_too_large"},
			{"media type before JSON", "writer", "PATCH", missing + "?x=1", "[", text, 415, "unsupported_media_type"},
			{"JSON before query", "writer", "PATCH", missing + "?x=1", "[", stale, 400, "invalid_json"},
			{"JSON before headers", "writer", "POST", "/v1/companies", "[", badKey, 400, "invalid_json"},
			{"query before existence", "writer", "PATCH", missing + "?x=1", `{"id":1}`, stale, 400, "invalid_parameter"},
			{"headers before existence", "writer", "POST", missing + "/archive", "", badKey, 400, "invalid_parameter"},
			{"existence before If-Match", "writer", "PATCH", missing, `{"id":1}`, stale, 404, "not_found"},
			{"existence before everything else of it", "elsewhere", "PATCH", acme.path(), `{"id":1}`, stale, 404, "not_found"},
			{"If-Match before state", "writer", "PATCH", old.path(), `{"id":1}`, stale, 412, "precondition_failed"},
			{"If-Match before transitions", "writer", "POST", old.path() + "/archive", "", stale, 412, "precondition_failed"},
			{"state before immutable fields", "writer", "PATCH", old.path(), `{"id":1,"name":5}`, nil, 409, "company_archived"},
			{"immutable before other fields", "writer", "PATCH", acme.path(), `{"id":1,"name":5,"x":1}`, nil, 422, "immutable_field"},
			{"fields before budget", "writer", "PATCH", acme.path(), `{"name":"","budget":{"usd":-1}}`, nil, 422, "validation_failed"},
			{"budget before adapter", "writer", "PATCH", acme.path(), `{"defaultAdapter":"x","budget":{"usd":-1}}`, nil, 422,
				"budget_invalid"},
			{"adapter before slug", "writer", "POST", "/v1/companies", `{"name":"A","slug":"acme","defaultAdapter":"x"}`, nil, 422,
				"adapter_not_installed"},
			{"slug last", "writer", "POST", "/v1/companies", named("acme"), nil, 409, "slug_in_use"},
			{"query before existence", "admin", "GET", noHook + "/deliveries?status=lost", "", nil, 400, "invalid_parameter"},
			{"cursor before existence", "admin", "GET", noHook + "/deliveries?cursor=x", "", nil, 400, "invalid_cursor"},
			{"existence before If-Match", "admin", "PATCH", noHook, `{"id":1}`, stale, 404, "not_found"},
			{"If-Match before immutable fields", "admin", "PATCH", hook, `{"id":1}`, stale, 412, "precondition_failed"},
			{"immutable before other fields", "admin", "PATCH", hook, `{"companyId":null,"url":7,"events":[]}`, nil, 422,
				"immutable_field"},
			{"existence before If-Match", "admin", "PATCH", noPartner, `{"id":1}`, stale, 404, "not_found"},
			{"an id of another kind does not exist", "admin", "GET", "/v1/partners/" + acme.ID, "", nil, 404, "not_found"},
			{"If-Match before immutable fields", "admin", "PATCH", revoked, `{"id":1}`, stale, 412, "precondition_failed"},
			{"immutable before other fields", "admin", "PATCH", revoked, `{"hint":"","name":""}`, nil, 422, "immutable_field"},
			{"fields before state", "admin", "PATCH", revoked, `{"name":""}`, nil, 422, "validation_failed"},
			{"scope before existence", "writer", "GET", noPartner, "", nil, 403, "insufficient_scope"},
			{"scope before JSON, where one company is too little", "elsewhere", "POST", "/v1/companies", "[", nil, 403,
				"insufficient_scope"},
			{"query before existence", "admin", "GET", missing + "/issues?sort=x", "", nil, 400, "invalid_parameter"},
			{"filters before existence", "admin", "GET", missing + "/issues?q=x", "", nil, 400, "invalid_parameter"},
			{"cursor before existence", "admin", "GET", missing + "/issues?agent=x&cursor=x", "", nil, 400, "invalid_cursor"},
			{"existence before If-Match", "writer", "POST", noIssue + "/cancel", `{"x":1}`, stale, 404, "not_found"},
			{"If-Match before fields", "writer", "POST", issue + "/reject", `{}`, stale, 412, "precondition_failed"},
			{"If-Match before transitions", "writer", "POST", issue + "/retry", "", stale, 412, "precondition_failed"},
			{"fields before transitions", "writer", "POST", issue + "/reject", `{}`, nil, 422, "validation_failed"},
			{"immutable before other fields", "writer", "PATCH", issue, `{"status":"done","title":5}`, nil, 422, "immutable_field"},
			{"fields before cycles", "writer", "PATCH", issue, `{"title":"","parentId":"` + issue[len(issue)-30:] + `"}`, nil, 422,
				"validation_failed"},
			{"state before fields of many", "writer", "POST", old.path() + "/issues/bulk", `{}`, nil, 409, "company_archived"},
			{"a slug of an archived company", "writer", "POST", "/v1/companies", named("old"), nil, 409, "slug_in_use"},
		} {
			t.Run(c.rule, func(t *testing.T) {
				send(clients[c.client].In(t), c.method, c.path, c.body, c.header...).Is(t, c.status, c.code)
			})
		}
		if len(s.events(t, acme.ID)) != 2 || len(s.events(t, old.ID)) != 2 {
			t.Error("a refused request left something behind")
		}
	})
}

func TestIfMatchGuardsEveryChangeOfACredential(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		token := s.Post("/v1/tokens", `{"name":"ci","scopes":["read"]}`).Header.Get("Location")
		partner := s.admit(t).path()
		hook := s.Post("/v1/webhooks", `{"url":"https://example.com"}`).Header.Get("Location")
		for _, c := range []struct{ method, path, of string }{
			{"POST", token + "/rotate", token}, {"POST", partner + "/rotate", partner}, {"POST", hook + "/rotate-secret", hook},
			{"DELETE", token, token}, {"DELETE", partner, partner},
		} {
			tag := s.Get(c.of).Header.Get("ETag")
			send(s.Client, c.method, c.path, "", "If-Match", `"99"`).Is(t, 412, "precondition_failed")
			if after := s.Get(c.of).Header.Get("ETag"); after != tag {
				t.Errorf("%s %s: a refused request moved the tag from %s to %s", c.method, c.path, tag, after)
			}
			send(s.Client, c.method, c.path, "", "If-Match", tag).Is(t, 200, "")
			send(s.Client, c.method, c.path, "", "If-Match", tag).Is(t, 412, "precondition_failed")
		}
	})
}

func TestIfMatchGuardsEveryWriteToACompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		tag := func() string { return s.Get(acme.path()).Header.Get("ETag") }
		first := tag()
		s.Patch(acme.path(), `{"name":"B"}`).Is(t, 200, "")
		writes := []struct{ method, path, body string }{
			{"PATCH", acme.path(), `{"name":"C"}`}, {"PATCH", acme.path(), `{}`}, {"POST", acme.path() + "/archive", ""}, {"DELETE",
				acme.path(), ""},
		}
		for _, w := range writes {
			for _, match := range []string{
				first, `"99"`, `W/` + tag(), strings.Trim(tag(), `"`), `"` + tag() + `"`, first + `, "99"`, `"*"`, "x", ",", `"02"`, `"+2"`,
			} {
				send(s.Client, w.method, w.path, w.body, "If-Match", match).Is(t, 412, "precondition_failed")
			}
			answer := send(s.Client, w.method, w.path+"?x=1", w.body, "If-Match", tag())
			answer.Is(t, 400, "invalid_parameter")
		}
		send(s.Client, "PATCH", acme.path(), `{"name":"D"}`, "If-Match", tag()).Is(t, 200, "")
		send(s.Client, "PATCH", acme.path(), `{"name":"E"}`, "If-Match", "*").Is(t, 200, "")
		send(s.Client, "PATCH", acme.path(), `{"name":"F"}`, "If-Match", `"99" , W/"1",`+tag()).Is(t, 200, "")
		send(s.Client, "POST", acme.path()+"/archive", "", "If-Match", tag()).Is(t, 200, "")
		send(s.Client, "POST", acme.path()+"/restore", "", "If-Match", first).Is(t, 412, "precondition_failed")
		send(s.Client, "POST", acme.path()+"/restore", "", "If-Match", tag()).Is(t, 200, "")
		send(s.Client, "DELETE", acme.path(), "", "If-Match", tag()).Is(t, 200, "")
		send(s.Client, "PATCH", acme.path(), `{}`, "If-Match", "*").Is(t, 404, "not_found")
	})
}

func TestIfNoneMatchLeavesOutABodyThatIsUnchanged(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		tag := s.Get(acme.path()).Header.Get("ETag")
		for _, method := range []string{"GET", "HEAD"} {
			for match, status := range map[string]int{
				tag: 304, "W/" + tag: 304, "*": 304, `"x", ` + tag: 304, `"99"`: 200, "x": 200, strings.Trim(tag, `"`): 200,
			} {
				answer := send(s.Client, method, acme.path(), "", "If-None-Match", match)
				if answer.Status != status || answer.Header.Get("ETag") != tag || status == 304 && len(answer.Body) > 0 {
					t.Errorf("%s If-None-Match: %s is answered %d, %d bytes", method, match, answer.Status, len(answer.Body))
				}
			}
		}
		s.Patch(acme.path(), `{"name":"B"}`).Is(t, 200, "")
		changed := send(s.Client, "GET", acme.path(), "", "If-None-Match", tag)
		if changed.Status != 200 || changed.Header.Get("ETag") == tag {
			t.Errorf("%d %s", changed.Status, changed.Header.Get("ETag"))
		}
		send(s.Client, "GET", "/v1/companies/x", "", "If-None-Match", "*").Is(t, 404, "not_found")
		send(s.Client, "GET", acme.path()+"?include=teams", "", "If-None-Match", "*").Is(t, 200, "")
	})
}
