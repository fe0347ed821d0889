package rest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/fault"
	"holdco/domain/webhook"
)

var update = flag.Bool("update", false, "rewrite the golden answers")

const goldenFolder = "../../../testdata/golden"

// sorted puts the methods of an Allow header in order.
func sorted(allow string) string {
	methods := strings.Split(allow, ", ")
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

func TestAnswersLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	const one = "/v1/companies/"
	first, id := string(tokenID(1)), one+string(companyID(1))
	full := `{"name":"Acme Corporation","slug":"acme","description":"Sells <everything>.","budget":{"usd":1500.25,"reservePercent":12.5},` +
		`"startingTeams":[{"name":"Research","headcount":2},{"name":"Sales","headcount":0}]}`
	create := func(w *world) { w.Post("/v1/companies", full) }
	archive := func(w *world) { create(w); w.Post(id+"/archive", "") }
	issue := func(w *world) { w.Post("/v1/tokens", `{"name":"ci","scopes":["read","company:acme:write"]}`) }
	const hook = `{"url":"https://example.com/holdco?a=1&b=2","events":["company.created","company.budget.*"],"description":"To the chat."}`
	hooks, hookID := "/v1/webhooks", "/v1/webhooks/"+string(webhookID(1))
	subscribe := func(w *world) { w.Post(hooks, hook) }
	partners, partner := "/v1/partners", "/v1/partners/"+string(partnerID(1))
	admit := func(w *world) { w.Post(partners, acmeData) }
	try := func(w *world) {
		subscribe(w)
		w.Post(hookID+"/test", "")
		unanswered := webhook.Attempt{At: start, Latency: 1500 * time.Millisecond, Error: "connection refused"}
		w.webhooks.deliveries[0] = w.webhooks.deliveries[0].After(unanswered, 0.5, start)
		w.webhooks.deliveries[0] = w.webhooks.deliveries[0].After(webhook.Attempt{At: start, Status: 500, Response: "<down>"}, 0.5, start)
	}

	for _, c := range []struct {
		name    string
		given   func(*world)
		request resttest.Request
		token   string // "admin" when empty
	}{
		{name: "company", given: create, request: get(id)},
		{name: "company_created", request: post("/v1/companies", full)},
		{name: "company_included", given: create, request: get(id + "?include=teams,agents,workflows,budgets")},
		{name: "company_archived", given: create, request: post(id+"/archive", "")},
		{name: "company_deleted", given: create, request: resttest.Request{Method: http.MethodDelete, Path: id}},
		{name: "companies", given: create, request: get("/v1/companies")},
		{name: "token", given: issue, request: get("/v1/tokens/" + first)},
		{name: "token_created", request: post("/v1/tokens", `{"name":"ci","scopes":["admin"],"expiresAt":"2027-04-11T00:00:00Z"}`)},
		{name: "tokens", given: issue, request: get("/v1/tokens")},
		{name: "webhook", request: get(hookID), given: func(w *world) {
			subscribe(w)
			w.webhooks.all[0], _ = w.webhooks.all[0].Disable(webhook.Gone, start)
		}},
		{name: "webhook_created", request: post(hooks, hook)},
		{name: "webhook_rotated", given: subscribe, request: post(hookID+"/rotate-secret", "")},
		{name: "webhooks", given: subscribe, request: get(hooks)},
		{name: "delivery", given: subscribe, request: post(hookID+"/test", "")},
		{name: "deliveries", given: try, request: get(hookID + "/deliveries?status=pending")},
		{name: "partner", request: get(partner), given: func(w *world) {
			admit(w)
			w.partners.all[0].LastUsedAt, w.partners.all[0].RevokedAt = start, start
		}},
		{name: "partner_created", request: post(partners, acmeData)},
		{name: "partner_rotated", given: admit, request: post(partner+"/rotate", "")},
		{name: "partners", given: admit, request: get(partners)},
		{name: "whoami", request: get("/v1/whoami"), token: "limited"},
		{name: "health", request: get("/healthz")},

		{name: "error_invalid_json", request: wrong("POST", "/v1/companies", `{"name":"A","name":"B"}`)},
		{name: "error_invalid_parameter", request: wrong("GET", "/v1/companies?limit=201", "")},
		{name: "error_invalid_cursor", request: get("/v1/companies?cursor=nonsense")},
		{name: "error_unauthorized", request: get("/v1/companies"), token: "nobody"},
		{name: "error_insufficient_scope", request: post("/v1/companies", full), token: "reader"},
		{name: "error_not_found", request: get(id)},
		{name: "error_method_not_allowed", request: wrong("PUT", "/v1/companies", "")},
		{name: "error_slug_in_use", given: create, request: post("/v1/companies", full)},
		{name: "error_invalid_transition", given: archive, request: post(id+"/archive", "")},
		{name: "error_restore_window_expired", request: post(id+"/restore", ""), given: func(w *world) {
			archive(w)
			w.companies.all[0].RestorableUntil = start.Add(-1)
		}},
		{name: "error_company_archived", given: archive, request: resttest.Request{Method: http.MethodPatch, Path: id, Body: `{}`}},
		{name: "error_idempotency_conflict", request: keyed("/v1/companies", acme, "k"), given: func(w *world) {
			w.Send(keyed("/v1/companies", full, "k"))
		}},
		{name: "error_webhook_limit", request: post(hooks, hook), given: func(w *world) { w.webhooks.full = true }},
		{name: "error_precondition_failed", given: create, request: resttest.Request{
			Method: http.MethodDelete, Path: id, Header: map[string]string{"If-Match": `"7"`},
		}},
		{name: "error_payload_too_large", request: wrong("POST", "/v1/companies", strings.Repeat(" ", 1<<20+1))},
		{name: "error_unsupported_media_type", given: create, request: wrong("POST", id+"/archive", `{"force":true}`)},
		{name: "error_validation_failed", request: wrong("POST", "/v1/companies", `{"name":7,"budget":{"usd":-1},"startingTeams":[{}]}`)},
		{name: "error_immutable_field", given: create, request: wrong("PATCH", id, `{"slug":"other","status":"archived"}`)},
		{name: "error_budget_invalid", request: wrong("POST", "/v1/companies", `{"name":"A","slug":"a","budget":{"usd":-1,"reservePercent":101}}`)},
		{name: "error_adapter_not_installed", request: post("/v1/companies", `{"name":"A","slug":"a","defaultAdapter":"pigeon"}`)},
		{name: "error_rate_limited", request: get(id), given: func(w *world) { w.limiter.full = true }},
		{name: "error_internal", request: get(id), given: func(w *world) { w.companies.err = errors.New("disk I/O error in /var/lib") }},
		{name: "error_unavailable", request: get(id), given: func(w *world) {
			w.companies.err = fault.New(fault.Unavailable, "The store cannot be reached; try again.").Because(errors.New("dial tcp"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.given != nil {
				c.given(w)
			}
			client := w.Client
			if c.token != "" {
				client = w.As(c.token)
			}
			if c.request.Header == nil {
				c.request.Header = map[string]string{}
			}
			c.request.Header["X-Request-Id"] = "req_golden"
			compare(t, c.name, client.Send(c.request))
		})
	}
}

func TestEveryCodeHasAGoldenAnswer(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range doc.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		if _, err := os.Stat(filepath.Join(goldenFolder, "error_"+code.(string)+".json")); err != nil {
			t.Error(err)
		}
	}
}

func get(path string) resttest.Request {
	return resttest.Request{Method: http.MethodGet, Path: path}
}

func post(path, body string) resttest.Request {
	return resttest.Request{Method: http.MethodPost, Path: path, Body: body}
}

func wrong(method, path, body string) resttest.Request {
	return resttest.Request{Method: method, Path: path, Body: body, Wrong: true}
}

// compare holds an answer against its golden file, or rewrites that.
func compare(t *testing.T, name string, answer resttest.Answer) {
	t.Helper()
	headers := map[string]string{}
	for _, header := range []string{"Allow", "Cache-Control", "ETag", "Idempotency-Replayed", "Location",
		"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "WWW-Authenticate"} {
		if value := answer.Header.Get(header); value != "" {
			headers[header] = value
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}{answer.Status, headers, answer.Body})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(goldenFolder, name+".json")
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Error(diff)
	}
}
