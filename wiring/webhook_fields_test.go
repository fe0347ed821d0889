package wiring_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/webhook"
)

func TestAWebhookIsCreatedAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for body, want := range map[string]apiWebhook{
			`{"url":"http://example.com"}`:                  {URL: "http://example.com", Events: []string{"*"}, Enabled: true},
			`{"url":"http://example.com","companyId":null}`: {URL: "http://example.com", Events: []string{"*"}, Enabled: true},
			`{"url":"https://example.com/a?b=c","events":["company.*","company.created"],` +
				`"companyId":"` + acme.ID + `","enabled":false,"description":"<x>"}`: {
				URL: "https://example.com/a?b=c", Events: []string{"company.*", "company.created"}, CompanyID: &acme.ID, Description: "<x>",
			},
		} {
			answer := s.Post("/v1/webhooks", body)
			answer.Is(t, 201, "")
			made := resttest.Data[apiWebhook](t, answer)
			if made.Secret == "" || answer.Header.Get("Location") != made.path() || answer.Header.Get("ETag") != `"1"` {
				t.Errorf("%v %s", answer.Header, answer.Body)
			}
			want.ID, want.CreatedAt, want.UpdatedAt = made.ID, made.CreatedAt, made.CreatedAt
			if diff := cmp.Diff(want, resttest.Data[apiWebhook](t, s.Get(made.path()))); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
		}
	})
}

func TestEachFieldOfAWebhookIsChecked(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const url = `{"url":"https://example.com",`
		for body, field := range map[string]string{
			`{"url":null}`:                         "url not_null",
			`{"url":7}`:                            "url wrong_type",
			`{"url":"example.com"}`:                "url invalid_format",
			`{"url":"https://u:p@example.com"}`:    "url invalid_format",
			url + `"events":null}`:                 "events not_null",
			url + `"events":"*"}`:                  "events wrong_type",
			url + `"events":["*",null]}`:           "events.1 not_null",
			url + `"events":["*","webhook.test"]}`: "events.1 unknown_value",
			url + `"companyId":1}`:                 "companyId wrong_type",
			url + `"companyId":"acme"}`:            "companyId unknown_value",
			url + `"companyId":"cmp_` + strings.Repeat("0", 26) + `"}`: "companyId unknown_value",
			url + `"enabled":"yes"}`:                                   "enabled wrong_type",
			url + `"description":null}`:                                "description not_null",
			url + `"secret":"whsec_AA=="}`:                             "secret unknown_field",
		} {
			answer := send(s.Client, "POST", "/v1/webhooks", body)
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff([]string{field}, wrong(answer)); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
		}
		if list := resttest.Data[[]apiWebhook](t, s.Get("/v1/webhooks")); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
}

func TestAPatchOfAWebhookChangesWhatItNames(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := resttest.Data[apiWebhook](t, s.Post("/v1/webhooks", `{"url":"https://example.com","description":"first"}`))
		patched := s.Patch(made.path(), `{"enabled":false,"events":["company.created"]}`)
		patched.Is(t, 200, "")
		want := made
		want.Enabled, want.Events, want.Secret = false, []string{"company.created"}, ""
		if diff := cmp.Diff(want, resttest.Data[apiWebhook](t, patched)); diff != "" || patched.Header.Get("ETag") != `"2"` {
			t.Errorf("%v %s", patched.Header, diff)
		}
		if same := s.Patch(made.path(), `{}`); same.Header.Get("ETag") != `"2"` {
			t.Errorf("an empty patch made version %s", same.Header.Get("ETag"))
		}
		for body, code := range map[string]string{
			`{"companyId":null}`:                    "immutable_field",
			`{"secret":"x","url":null,"nope":1}`:    "immutable_field",
			`{"disabledReason":null}`:               "immutable_field",
			`{"url":null}`:                          "validation_failed",
			`{"events":null}`:                       "validation_failed",
			`{"enabled":null}`:                      "validation_failed",
			`{"description":null}`:                  "validation_failed",
			`{"version":7}`:                         "validation_failed",
			`{"url":"ftp://example.com"}`:           "validation_failed",
			`{"url":"https://example.com/#inside"}`: "validation_failed",
		} {
			send(s.Client, "PATCH", made.path(), body).Is(t, 422, code)
		}
		send(s.Client, "GET", made.path(), "", "If-None-Match", `"2"`).Is(t, 304, "")
		send(s.Client, "PATCH", made.path(), `{"enabled":true}`, "If-Match", `"1"`).Is(t, 412, "precondition_failed")
		send(s.Client, "PATCH", made.path(), `{"enabled":true}`, "If-Match", `"2"`).Is(t, 200, "")
		send(s.Client, "GET", made.path(), "", "If-None-Match", `"2"`).Is(t, 200, "")
		send(s.Client, "DELETE", made.path(), "", "If-Match", `"2"`).Is(t, 412, "precondition_failed")
		for _, answer := range []resttest.Answer{
			s.Get(made.path()), s.Get("/v1/webhooks"),
			send(s.Client, "DELETE", made.path(), "", "If-Match", `"3"`),
		} {
			answer.Is(t, 200, "")
			if strings.Contains(string(answer.Body), webhook.SecretPrefix) {
				t.Errorf("%s", answer.Body)
			}
		}
		s.Delete(made.path()).Is(t, 404, "not_found")
	})
}

func TestWebhooksAndDeliveriesAreListedInPages(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		for i := range 3 {
			s.Post("/v1/webhooks", fmt.Sprintf(`{"url":"https://example.com/%d","enabled":false}`, i)).Is(t, 201, "")
		}
		first := s.Get("/v1/webhooks?limit=2")
		var urls []string
		for _, answer := range []resttest.Answer{first, s.Get("/v1/webhooks?" + next(first))} {
			for _, shown := range resttest.Data[[]apiWebhook](t, answer) {
				urls = append(urls, shown.URL)
			}
		}
		if diff := cmp.Diff([]string{"https://example.com/2", "https://example.com/1", "https://example.com/0"}, urls); diff != "" {
			t.Error(diff)
		}

		to := listen(t)
		hook, other := s.subscribe(t, to, ""), s.subscribe(t, to, "")
		var sent []string
		for range 3 {
			sent = append(sent, resttest.Data[apiDelivery](t, s.Post(hook.path()+"/test", "")).ID)
			s.settled(t, hook, webhook.Succeeded, 1)
		}
		log := hook.path() + "/deliveries"
		page := s.Get(log + "?limit=2")
		second := s.Get(log + "?limit=2&" + next(page))
		found := append(resttest.Data[[]apiDelivery](t, page), resttest.Data[[]apiDelivery](t, second)...)
		if len(found) != 3 || found[0].ID != sent[2] || found[1].ID != sent[1] || found[2].ID != sent[0] || second.Meta.Page.Cursor != nil {
			t.Errorf("%+v, want %v from the last", found, sent)
		}
		for status, want := range map[string]int{"pending": 0, "succeeded": 3, "failed": 0} {
			if got := resttest.Data[[]apiDelivery](t, s.Get(log+"?status="+status)); len(got) != want {
				t.Errorf("%s: %+v", status, got)
			}
		}
		s.Get(log+"?status=pending&"+next(page)).Is(t, 400, "invalid_cursor")
		s.Get(other.path()+"/deliveries?"+next(page)).Is(t, 400, "invalid_cursor")
		s.Post(other.path()+"/deliveries/"+sent[0]+"/redeliver", "").Is(t, 404, "not_found")
		s.Patch(hook.path(), `{"enabled":false}`).Is(t, 200, "")
		s.Post(log+"/"+sent[0]+"/redeliver", "").Is(t, 409, "invalid_transition")
	})
}

func TestWebhooksAreForAdminsAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		client, none := s.with(t, "read", "write"), "/v1/webhooks/whk_"+strings.Repeat("0", 26)
		for _, operation := range []string{
			"GET /v1/webhooks", "POST /v1/webhooks", "GET " + none, "PATCH " + none, "DELETE " + none, "POST " + none + "/test",
			"POST " + none + "/rotate-secret", "GET " + none + "/deliveries", "POST " + none + "/deliveries/dlv_" + strings.Repeat("0",
				26) + "/redeliver",
		} {
			method, path, _ := strings.Cut(operation, " ")
			answer := send(client, method, path, "")
			answer.Is(t, 403, "insufficient_scope")
			if answer.Error.Details.Required != "admin" {
				t.Errorf("%s: %s", operation, answer.Body)
			}
		}
	})
}
