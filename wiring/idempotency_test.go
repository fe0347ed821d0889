package wiring_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// once sends a POST request with an idempotency key.
func once(client *resttest.Client, key, path, body string) resttest.Answer {
	return send(client, "POST", path, body, "Idempotency-Key", key)
}

// repeats fails the test unless again is the first answer once more.
func repeats(t *testing.T, first, again resttest.Answer) {
	t.Helper()
	if again.Status != first.Status || string(again.Data) != string(first.Data) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("first %d %s\nagain %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	for _, name := range []string{"ETag", "Location", "Content-Type", "Cache-Control"} {
		if first.Header.Get(name) != again.Header.Get(name) {
			t.Errorf("%s was %q and is %q", name, first.Header.Get(name), again.Header.Get(name))
		}
	}
	if first.Header.Get("Idempotency-Replayed") != "" || first.Meta.RequestID == again.Meta.RequestID {
		t.Error("the first answer is taken for a repeated one, or the other way round")
	}
}

func TestARepeatGetsTheFirstAnswerAndHasNoEffect(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		body := draft(t, `"budget":{"usd":12.50},"description":"<&>\u2028","startingTeams":[{"name":"A","headcount":2}]`)
		first := once(s.Client, "k1", "/v1/companies", body)
		first.Is(t, 201, "")
		acme := resttest.Data[company](t, first)
		plain := once(s.Client, "k2", "/v1/companies", named("plain"))
		s.clock.advance(time.Hour)
		s.Patch(acme.path(), `{"name":"Changed since"}`).Is(t, 200, "")
		repeats(t, first, once(s.Client, "k1", "/v1/companies", body))
		repeats(t, plain, once(s.Client, "k2", "/v1/companies", named("plain")))

		archived := once(s.Client, "k3", acme.path()+"/archive", "")
		archived.Is(t, 200, "")
		repeats(t, archived, once(s.Client, "k3", acme.path()+"/archive", ""))
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		repeats(t, archived, once(s.Client, "k3", acme.path()+"/archive", ""))
		if now := s.see(t, acme); now.Status != "active" || len(s.events(t, acme.ID)) != 4 {
			t.Errorf("a repeat had an effect: %+v", now)
		}
		restored := once(s.Client, "k4", acme.path()+"/restore", "")
		restored.Is(t, 409, "invalid_transition")

		s = s.again(t)
		repeats(t, first, once(s.Client, "k1", "/v1/companies", body))
	})
}

func TestAKeyBelongsToOneRequestOfOneToken(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		first := once(s.Client, "k", "/v1/companies", named("a"))
		first.Is(t, 201, "")
		a := resttest.Data[company](t, first)
		once(s.Client, "k", "/v1/companies", named("b")).Is(t, 409, "idempotency_conflict")
		once(s.Client, "k", "/v1/companies", named("a")+" ").Is(t, 409, "idempotency_conflict")
		once(s.Client, "k", a.path()+"/archive", "").Is(t, 409, "idempotency_conflict")
		once(s.Client, "k", "/v1/tokens", `{"name":"x","scopes":["read"]}`).Is(t, 409, "idempotency_conflict")
		once(s.Client, "K", "/v1/companies", named("b")).Is(t, 201, "")

		writer := s.with(t, "write")
		once(writer, "k", "/v1/companies", named("a")).Is(t, 409, "slug_in_use")
		once(writer, "k", "/v1/companies", named("c")).Is(t, 201, "")
		repeats(t, first, once(s.Client, "k", "/v1/companies", named("a")))
		once(s.with(t, "read"), "k", "/v1/companies", named("a")).Is(t, 403, "insufficient_scope")
	})
}

func TestAKeyIsFreeAgainAfterADay(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		first := once(s.Client, "k", "/v1/companies", named("a"))
		s.clock.advance(24*time.Hour - time.Millisecond)
		repeats(t, first, once(s.Client, "k", "/v1/companies", named("a")))
		once(s.Client, "k", "/v1/companies", named("b")).Is(t, 409, "idempotency_conflict")
		s.clock.advance(time.Millisecond)
		second := once(s.Client, "k", "/v1/companies", named("b"))
		second.Is(t, 201, "")
		repeats(t, second, once(s.Client, "k", "/v1/companies", named("b")))
	})
}

func TestFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		taken := s.create(t, named("taken"))
		for _, c := range []struct{ body, code string }{
			{"[", "invalid_json"}, {`{"slug":"a"}`, "validation_failed"}, {`{"name":"A","slug":"a","budget":{"usd":-1}}`, "budget_invalid"},
			{named("taken"), "slug_in_use"},
		} {
			if answer := once(s.Client, "k", "/v1/companies", c.body); answer.Error.Code != c.code {
				t.Errorf("%s: %d %s", c.body, answer.Status, answer.Error.Code)
			}
		}
		s.Delete(taken.path()).Is(t, 200, "")
		once(s.Client, "k", "/v1/companies", named("taken")).Is(t, 201, "")
	})
}

func TestAnAnswerGoesWithItsCompanyAndTheKeyStays(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := resttest.Data[company](t, once(s.Client, "k1", "/v1/companies", named("a")))
		once(s.Client, "k2", acme.path()+"/archive", "").Is(t, 200, "")
		s.Delete(acme.path()).Is(t, 200, "")
		once(s.Client, "k1", "/v1/companies", named("a")).Is(t, 409, "idempotency_conflict")
		once(s.Client, "k2", acme.path()+"/archive", "").Is(t, 409, "idempotency_conflict")
		s.clock.advance(24 * time.Hour)
		once(s.Client, "k1", "/v1/companies", named("a")).Is(t, 201, "")
		once(s.Client, "k2", acme.path()+"/archive", "").Is(t, 404, "not_found")
	})
}

func TestARepeatedAnswerShowsNoSecret(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		first := once(s.Client, "k1", "/v1/tokens", `{"name":"x","scopes":["read"]}`)
		first.Is(t, 201, "")
		made := resttest.Data[apiToken](t, first)
		again := once(s.Client, "k1", "/v1/tokens", `{"name":"x","scopes":["read"]}`)
		again.Is(t, 201, "")
		withoutValue := func(answer resttest.Answer) string {
			return strings.Replace(string(answer.Data), `,"token":"`+resttest.Data[apiToken](t, answer).Token+`"`, "", 1)
		}
		if made.Token == "" || string(again.Data) != withoutValue(first) || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s\n%s", first.Data, again.Data)
		}
		s.As(made.Token).Get("/v1/whoami").Is(t, 200, "")

		rotated := once(s.Client, "k2", made.path()+"/rotate", "")
		rotated.Is(t, 200, "")
		again = once(s.Client, "k2", made.path()+"/rotate", "")
		if string(again.Data) != withoutValue(rotated) || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s\n%s", rotated.Data, again.Data)
		}
		s.As(resttest.Data[apiToken](t, rotated).Token).Get("/v1/whoami").Is(t, 200, "")
	})
}

func TestAKeyIsVisibleASCII(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for _, key := range []string{"", " ", "a b", "a\tb", "é", strings.Repeat("k", 256)} {
			answer := once(s.Client, key, "/v1/companies", named("a"))
			answer.Is(t, 400, "invalid_parameter")
			if answer.Error.Details.Parameter != "Idempotency-Key" {
				t.Errorf("%q: %s", key, answer.Body)
			}
		}
		for i, key := range []string{strings.Repeat("k", 255), "!~'\"%_\\", "null"} {
			body := named(fmt.Sprintf("s-%d", i))
			first := once(s.Client, key, "/v1/companies", body)
			first.Is(t, 201, "")
			repeats(t, first, once(s.Client, key, "/v1/companies", body))
		}
	})
}
