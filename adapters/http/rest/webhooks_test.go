package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/webhook"
)

// subscribed creates a webhook and returns its path.
func subscribed(t *testing.T, w *world, body string) string {
	t.Helper()
	created := w.Post("/v1/webhooks", body)
	created.Is(t, http.StatusCreated, "")
	return created.Header.Get("Location")
}

func TestAWebhookShowsItsSecretOnCreateAndRotateOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.Post("/v1/webhooks", `{"url":"https://example.com/holdco"}`)
	created.Is(t, http.StatusCreated, "")
	made := resttest.Data[rest.Webhook](t, created)
	path := created.Header.Get("Location")
	if made.Secret == nil || path != "/v1/webhooks/"+made.ID || created.Header.Get("ETag") != `"1"` {
		t.Errorf("%v %s", created.Header, created.Body)
	}

	rotated := w.Post(path+"/rotate-secret", "")
	rotated.Is(t, http.StatusOK, "")
	if secret := resttest.Data[rest.Webhook](t, rotated).Secret; secret == nil || *secret == *made.Secret || rotated.Header.Get("ETag") != `"2"` {
		t.Errorf("%v %s", rotated.Header, rotated.Body)
	}
	for _, answer := range []resttest.Answer{w.Get(path), w.Patch(path, `{}`), w.Get("/v1/webhooks"), w.Delete(path)} {
		answer.Is(t, http.StatusOK, "")
		if strings.Contains(string(answer.Body), webhook.SecretPrefix) {
			t.Errorf("%s", answer.Body)
		}
	}
	w.Get(path).Is(t, http.StatusNotFound, "not_found")
	w.Delete(path).Is(t, http.StatusNotFound, "not_found")
}

func TestAWebhookIsCreatedAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	company := string(companyID(1))
	for body, want := range map[string]rest.Webhook{
		`{"url":"http://example.com"}`:                  {URL: "http://example.com", Events: []string{"*"}, Enabled: true},
		`{"url":"http://example.com","companyId":null}`: {URL: "http://example.com", Events: []string{"*"}, Enabled: true},
		`{"url":"https://example.com/a?b=c","events":["company.*","company.created"],"companyId":"` + company + `","enabled":false,"description":"<x>"}`: {
			URL: "https://example.com/a?b=c", Events: []string{"company.*", "company.created"}, CompanyID: &company, Description: "<x>",
		},
	} {
		got := resttest.Data[rest.Webhook](t, w.Get(subscribed(t, w, body)))
		got.ID, got.CreatedAt, got.UpdatedAt = "", "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestWrongWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ body, field, code string }{
		{`{}`, "url", "required"},
		{`{"url":null}`, "url", "not_null"},
		{`{"url":7}`, "url", "wrong_type"},
		{`{"url":"example.com"}`, "url", "invalid_format"},
		{`{"url":"https://u:p@example.com"}`, "url", "invalid_format"},
		{`{"url":"https://example.com","events":null}`, "events", "not_null"},
		{`{"url":"https://example.com","events":"*"}`, "events", "wrong_type"},
		{`{"url":"https://example.com","events":[]}`, "events", "required"},
		{`{"url":"https://example.com","events":["*",null]}`, "events.1", "not_null"},
		{`{"url":"https://example.com","events":["*","webhook.test"]}`, "events.1", "unknown_value"},
		{`{"url":"https://example.com","companyId":1}`, "companyId", "wrong_type"},
		{`{"url":"https://example.com","companyId":"acme"}`, "companyId", "unknown_value"},
		{`{"url":"https://example.com","companyId":"` + string(companyID(2)) + `"}`, "companyId", "unknown_value"},
		{`{"url":"https://example.com","enabled":"yes"}`, "enabled", "wrong_type"},
		{`{"url":"https://example.com","description":null}`, "description", "not_null"},
		{`{"url":"https://example.com","secret":"whsec_AA=="}`, "secret", "unknown_field"},
	} {
		answer := w.Send(wrong(http.MethodPost, "/v1/webhooks", c.body))
		answer.Is(t, http.StatusUnprocessableEntity, "validation_failed")
		if fields := answer.Error.Details.Fields; len(fields) != 1 || fields[0].Field != c.field || fields[0].Code != c.code {
			t.Errorf("%s: %+v", c.body, fields)
		}
	}
	if w.webhooks.all != nil {
		t.Error("something was created all the same")
	}
}

func TestAPatchOfAWebhookChangesWhatItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := subscribed(t, w, `{"url":"https://example.com","description":"first"}`)
	w.webhooks.all[0], _ = w.webhooks.all[0].Disable(webhook.Failing, start)
	if disabled := resttest.Data[rest.Webhook](t, w.Get(path)); disabled.Enabled || *disabled.DisabledReason != webhook.Failing {
		t.Errorf("%+v", disabled)
	}

	patched := w.Patch(path, `{"enabled":true,"events":["company.created"]}`)
	patched.Is(t, http.StatusOK, "")
	got := resttest.Data[rest.Webhook](t, patched)
	if !got.Enabled || got.DisabledReason != nil || got.Description != "first" || got.URL != "https://example.com" ||
		!cmp.Equal(got.Events, []string{"company.created"}) || patched.Header.Get("ETag") != `"3"` {
		t.Errorf("%v %s", patched.Header, patched.Body)
	}
	if same := w.Patch(path, `{}`); same.Header.Get("ETag") != `"3"` {
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
		w.Send(wrong(http.MethodPatch, path, body)).Is(t, http.StatusUnprocessableEntity, code)
	}
}

func TestAWebhookHasAVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := subscribed(t, w, `{"url":"https://example.com"}`)
	conditional := func(method, body, header, tag string) resttest.Answer {
		return w.Send(resttest.Request{Method: method, Path: path, Body: body, Header: map[string]string{header: tag}})
	}
	conditional(http.MethodGet, "", "If-None-Match", `"1"`).Is(t, http.StatusNotModified, "")
	conditional(http.MethodPatch, `{"enabled":false}`, "If-Match", `"2"`).Is(t, http.StatusPreconditionFailed, "precondition_failed")
	conditional(http.MethodPatch, `{"enabled":false}`, "If-Match", `"1"`).Is(t, http.StatusOK, "")
	conditional(http.MethodGet, "", "If-None-Match", `"1"`).Is(t, http.StatusOK, "")
	conditional(http.MethodDelete, "", "If-Match", `"1"`).Is(t, http.StatusPreconditionFailed, "precondition_failed")
	conditional(http.MethodDelete, "", "If-Match", `"2"`).Is(t, http.StatusOK, "")
}

func TestDeliveriesAreListedAndRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := subscribed(t, w, `{"url":"https://example.com"}`)
	for range 3 {
		w.Post(path+"/test", "").Is(t, http.StatusAccepted, "")
	}
	w.webhooks.deliveries[0] = w.webhooks.deliveries[0].After(webhook.Attempt{At: start, Status: 204}, 0, start)
	again := path + "/deliveries/" + string(deliveryID(3)) + "/redeliver"

	ids := func(query string) (ids []string, next string) {
		t.Helper()
		answer := w.Get(path + "/deliveries" + query)
		answer.Is(t, http.StatusOK, "")
		for _, d := range resttest.Data[[]rest.Delivery](t, answer) {
			ids = append(ids, d.ID[len(d.ID)-1:]+" "+d.Status)
		}
		if answer.Meta.Page.Cursor != nil {
			next = *answer.Meta.Page.Cursor
		}
		return ids, next
	}
	page, next := ids("?limit=2")
	if diff := cmp.Diff([]string{"3 succeeded", "2 pending"}, page); diff != "" {
		t.Error(diff)
	}
	if page, _ := ids("?cursor=" + next); !cmp.Equal(page, []string{"1 pending"}) {
		t.Error(page)
	}
	for query, want := range map[string][]string{
		"?status=pending": {"2 pending", "1 pending"}, "?status=succeeded": {"3 succeeded"}, "?status=failed": nil,
	} {
		if page, _ := ids(query); !cmp.Equal(page, want) {
			t.Errorf("%s: %v", query, page)
		}
	}
	w.Get(path+"/deliveries?status=pending&cursor="+next).Is(t, http.StatusBadRequest, "invalid_cursor")
	other := subscribed(t, w, `{"url":"https://example.com/other"}`)
	w.Get(other+"/deliveries?cursor="+next).Is(t, http.StatusBadRequest, "invalid_cursor")

	repeated := w.Post(again, "")
	repeated.Is(t, http.StatusAccepted, "")
	if d := resttest.Data[rest.Delivery](t, repeated); d.Status != "pending" || len(d.Attempts) != 1 || d.NextAttemptAt == nil {
		t.Errorf("%s", repeated.Body)
	}
	for _, missing := range []string{
		other + "/deliveries/" + string(deliveryID(3)) + "/redeliver", path + "/deliveries/" + string(deliveryID(9)) + "/redeliver",
	} {
		w.Post(missing, "").Is(t, http.StatusNotFound, "not_found")
	}

	w.Patch(path, `{"enabled":false}`).Is(t, http.StatusOK, "")
	w.Post(path+"/test", "").Is(t, http.StatusConflict, "invalid_transition")
	w.Post(again, "").Is(t, http.StatusConflict, "invalid_transition")
}

func TestWebhooksAreListedInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		subscribed(t, w, fmt.Sprintf(`{"url":"https://example.com/%d"}`, i))
	}
	first := w.Get("/v1/webhooks?limit=2")
	second := w.Get("/v1/webhooks?cursor=" + *first.Meta.Page.Cursor)
	var urls []string
	for _, answer := range []resttest.Answer{first, second} {
		for _, shown := range resttest.Data[[]rest.Webhook](t, answer) {
			urls = append(urls, shown.URL)
		}
	}
	if diff := cmp.Diff([]string{"https://example.com/2", "https://example.com/1", "https://example.com/0"}, urls); diff != "" {
		t.Error(diff)
	}
}

func TestWhatConcernsWebhooksCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(path, body, key string) (first, again resttest.Answer) {
		t.Helper()
		first, again = w.Send(keyed(path, body, key)), w.Send(keyed(path, body, key))
		if again.Status != first.Status || again.Header.Get("Idempotency-Replayed") != "true" ||
			again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("ETag") != first.Header.Get("ETag") {
			t.Errorf("%d %v %s, then %d %v %s", first.Status, first.Header, first.Body, again.Status, again.Header, again.Body)
		}
		return first, again
	}
	created, again := send("/v1/webhooks", `{"url":"https://example.com"}`, "c")
	path := created.Header.Get("Location")
	rotated, rotatedAgain := send(path+"/rotate-secret", "", "r")
	for _, pair := range [][2]resttest.Answer{{created, again}, {rotated, rotatedAgain}} {
		first, again := resttest.Data[rest.Webhook](t, pair[0]), resttest.Data[rest.Webhook](t, pair[1])
		if first.Secret == nil || again.Secret != nil || first.ID != again.ID {
			t.Errorf("%+v, then %+v", first, again)
		}
	}
	tested, testedAgain := send(path+"/test", "", "t")
	sent, sentAgain := send(path+"/deliveries/"+string(deliveryID(1))+"/redeliver", "", "d")
	if string(tested.Data) != string(testedAgain.Data) || string(sent.Data) != string(sentAgain.Data) || len(w.webhooks.deliveries) != 1 {
		t.Errorf("%s, then %s", tested.Body, testedAgain.Body)
	}
	for _, receipt := range w.webhooks.receipts {
		if strings.Contains(string(receipt.Answer), webhook.SecretPrefix) {
			t.Errorf("a kept answer shows a secret: %s", receipt.Answer)
		}
	}
}

func TestWebhooksAreForAdminsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := subscribed(t, w, `{"url":"https://example.com"}`)
	for _, action := range []string{
		"GET /v1/webhooks", "POST /v1/webhooks", "GET " + path, "PATCH " + path, "DELETE " + path, "POST " + path + "/test",
		"POST " + path + "/rotate-secret", "GET " + path + "/deliveries", "POST " + path + "/deliveries/" + string(deliveryID(1)) + "/redeliver",
	} {
		method, path, _ := strings.Cut(action, " ")
		for _, token := range []string{"reader", "writer", "limited"} {
			answer := w.As(token).Send(resttest.Request{Method: method, Path: path, Wrong: true})
			answer.Is(t, http.StatusForbidden, "insufficient_scope")
			if answer.Error.Details.Required != "admin" {
				t.Errorf("%s: %s", action, answer.Body)
			}
		}
	}
}

// What the API shows is what the command line and the activity log show.
func TestTheDomainShowsWebhooksAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := subscribed(t, w, `{"url":"https://example.com","companyId":"`+string(companyID(1))+`"}`)
	w.Post(path+"/test", "").Is(t, http.StatusAccepted, "")
	w.webhooks.deliveries[0] = w.webhooks.deliveries[0].After(webhook.Attempt{At: start, Error: "no answer"}, 0, start).
		After(webhook.Attempt{At: start, Status: 204, Latency: 12e6, Response: "ok"}, 0, start)
	w.webhooks.all[0], _ = w.webhooks.all[0].Disable(webhook.Gone, start)

	for path, fields := range map[string]interface{ MarshalJSON() ([]byte, error) }{
		path:                 w.webhooks.all[0].Fields(),
		path + "/deliveries": w.webhooks.deliveries[0].Fields(),
	} {
		want, err := fields.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), strings.Trim(string(w.Get(path).Data), "[]")); diff != "" {
			t.Error(diff)
		}
	}
}
