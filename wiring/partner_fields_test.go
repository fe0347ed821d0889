package wiring_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

func TestWrongPartnersAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for body, field := range map[string]string{
			`{"origins":["https://a.b"]}`:                                                        "name required",
			`{"name":"A"}`:                                                                       "origins required",
			`{"name":"A","origins":[]}`:                                                          "origins required",
			`{"name":"A","origins":null}`:                                                        "origins not_null",
			`{"name":"A","origins":"https://a.b"}`:                                               "origins wrong_type",
			`{"name":"A","origins":["https://a.b",null]}`:                                        "origins.1 not_null",
			`{"name":"A","origins":["https://a.b/"]}`:                                            "origins.0 invalid_format",
			`{"name":"A","origins":["*"]}`:                                                       "origins.0 invalid_format",
			`{"name":"A","origins":["https://a.b"],"key":"x"}`:                                   "key unknown_field",
			`{"name":"A","origins":["https://a.b"],"expiresAt":"tomorrow"}`:                      "expiresAt invalid_format",
			`{"name":"A","origins":["https://a.b"],"expiresAt":"2026-04-11T12:00:00Z"}`:          "expiresAt out_of_range",
			`{"name":"A","origins":["https://a.b"` + strings.Repeat(`,"https://a.b"`, 20) + `]}`: "origins too_many",
		} {
			answer := send(s.Client, "POST", "/v1/partners", body)
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff([]string{field}, wrong(answer)); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
		}
		if list := resttest.Data[[]apiPartner](t, s.Get("/v1/partners")); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		s.Post("/v1/partners", `{"name":"A","origins":["https://a.b"],"expiresAt":null}`).Is(t, 201, "")
	})
}

func TestAPatchOfAPartnerChangesWhatItNames(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := resttest.Data[apiPartner](t, s.Post("/v1/partners",
			`{"name":"Acme Data","origins":["https://b.c","http://localhost:3000"],"expiresAt":"2027-04-11T02:00:00+02:00"}`))
		for _, c := range []struct {
			body, etag string
			origins    []string
			expiresAt  *string
		}{
			{`{}`, `"1"`, []string{"https://b.c", "http://localhost:3000"}, new("2027-04-11T00:00:00.000Z")},
			{`{"origins":["https://a.b","https://a.b"]}`, `"2"`, []string{"https://a.b"}, new("2027-04-11T00:00:00.000Z")},
			{`{"expiresAt":null}`, `"3"`, []string{"https://a.b"}, nil},
			{`{"name":"Acme Data"}`, `"3"`, []string{"https://a.b"}, nil},
			{`{"expiresAt":"2028-01-01T00:00:00Z"}`, `"4"`, []string{"https://a.b"}, new("2028-01-01T00:00:00.000Z")},
		} {
			patched := s.Patch(made.path(), c.body)
			patched.Is(t, 200, "")
			got := resttest.Data[apiPartner](t, patched)
			if diff := cmp.Diff(c.origins, got.Origins) + cmp.Diff(c.expiresAt, got.ExpiresAt); diff != "" ||
				patched.Header.Get("ETag") != c.etag {
				t.Errorf("%s: %s %s", c.body, patched.Header.Get("ETag"), diff)
			}
		}
		before := s.Get(made.path())
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
			send(s.Client, "PATCH", made.path(), body).Is(t, 422, code)
		}
		if now := s.Get(made.path()); string(now.Data) != string(before.Data) {
			t.Errorf("%s became %s", before.Data, now.Data)
		}
	})
}

func TestAPartnerHasAVersion(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		path := s.admit(t).path()
		send(s.Client, "GET", path, "", "If-None-Match", `"1"`).Is(t, 304, "")
		send(s.Client, "PATCH", path, `{"name":"New"}`, "If-Match", `"2"`).Is(t, 412, "precondition_failed")
		send(s.Client, "PATCH", path, `{"name":"New"}`, "If-Match", `"1"`).Is(t, 200, "")
		send(s.Client, "DELETE", path, "", "If-Match", `"1"`).Is(t, 412, "precondition_failed")
		send(s.Client, "DELETE", path, "", "If-Match", `"2"`).Is(t, 200, "")
	})
}

func TestWrongRotationsAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		none := strings.Repeat("0", 26)
		for existing, missing := range map[string]string{
			s.admit(t).path():         "/v1/partners/prt_" + none,
			s.issue(t, "read").path(): "/v1/tokens/tok_" + none,
		} {
			for body, code := range map[string]string{
				`{"graceSeconds":-1}`:                  "graceSeconds out_of_range",
				`{"graceSeconds":2592001}`:             "graceSeconds out_of_range",
				`{"graceSeconds":9223372036854775807}`: "graceSeconds out_of_range",
				`{"graceSeconds":1e30}`:                "graceSeconds out_of_range",
				`{"graceSeconds":1.5}`:                 "graceSeconds wrong_type",
				`{"graceSeconds":null}`:                "graceSeconds not_null",
				`{"grace":1}`:                          "grace unknown_field",
			} {
				answer := send(s.Client, "POST", existing+"/rotate", body)
				answer.Is(t, 422, "validation_failed")
				if diff := cmp.Diff([]string{code}, wrong(answer)); diff != "" {
					t.Errorf("%s: %s", body, diff)
				}
				send(s.Client, "POST", missing+"/rotate", body).Is(t, 404, "not_found")
				send(s.Client, "POST", existing+"/rotate", body, "If-Match", `"7"`).Is(t, 412, "precondition_failed")
			}
			s.Post(existing+"/rotate", `{"graceSeconds":3600.0}`).Is(t, 200, "")
		}
	})
}

func TestARepeatedAnswerShowsNoKeyAndNoSecret(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		shown := func(answer resttest.Answer) (secret, rest string) {
			found := resttest.Data[struct{ Key, Secret string }](t, answer)
			rest = strings.Replace(string(answer.Data), `,"key":"`+found.Key+`"`, "", 1)
			return found.Key + found.Secret, strings.Replace(rest, `,"secret":"`+found.Secret+`"`, "", 1)
		}
		repeated := func(key, path, body string) resttest.Answer {
			first, again := once(s.Client, key, path, body), once(s.Client, key, path, body)
			secret, rest := shown(first)
			if secret == "" || string(again.Data) != rest || again.Status != first.Status ||
				again.Header.Get("Idempotency-Replayed") != "true" ||
				again.Header.Get("ETag") != first.Header.Get("ETag") || again.Header.Get("Location") != first.Header.Get("Location") {
				t.Errorf("%d %v %s, then %d %v %s", first.Status, first.Header, first.Body, again.Status, again.Header, again.Body)
			}
			return first
		}
		partner := repeated("p", "/v1/partners", `{"name":"A","origins":["https://a.b"]}`).Header.Get("Location")
		repeated("q", partner+"/rotate", "")
		hook := repeated("w", "/v1/webhooks", `{"url":"https://example.com"}`).Header.Get("Location")
		repeated("r", hook+"/rotate-secret", "")

		tested := once(s.Client, "t", hook+"/test", "")
		tested.Is(t, 202, "")
		repeats(t, tested, once(s.Client, "t", hook+"/test", ""))
	})
}
