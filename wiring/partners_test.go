package wiring_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// admit makes a partner whose pages come from https://app.acme.example.
func (s *instance) admit(t *testing.T) apiPartner {
	t.Helper()
	answer := s.In(t).Post("/v1/partners", `{"name":"Acme Data","origins":["https://app.acme.example"]}`)
	answer.Is(t, 201, "")
	return resttest.Data[apiPartner](t, answer)
}

// opens fails the test unless of the given keys just these let their bearers in: yes or no, for each.
func (s *instance) opens(t *testing.T, want []bool, keys ...string) {
	t.Helper()
	var got []bool
	for _, key := range keys {
		_, err := s.keys.Authenticate(t.Context(), key)
		if code := fault.CodeOf(err); code != "" && code != fault.Unauthorized {
			t.Error(err)
		}
		got = append(got, err == nil)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the keys let in: %v, want %v", got, want)
	}
}

func TestAPartnerShowsItsKeyOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		answer := s.Post("/v1/partners", `{"name":" Acme Data ",
			"origins":["https://b.c","http://[::1]:3000","https://b.c"],"expiresAt":"2027-04-11T02:00:00.1239+02:00"}`)
		answer.Is(t, 201, "")
		made := resttest.Data[apiPartner](t, answer)
		want := apiPartner{
			ID: made.ID, Name: "Acme Data", Origins: []string{"https://b.c", "http://[::1]:3000"}, Key: made.Key,
			Hint: "hcp_..." + made.Key[len(made.Key)-4:], CreatedAt: "2026-04-11T12:00:00.000Z", ExpiresAt: new("2027-04-11T00:00:00.123Z"),
		}
		if diff := cmp.Diff(want, made); diff != "" || !regexp.MustCompile(`^hcp_[0-9A-Za-z]{49}$`).MatchString(made.Key) {
			t.Error(made.Key, diff)
		}
		want.Key = ""
		for _, shown := range []apiPartner{
			resttest.Data[apiPartner](t, s.Get(made.path())), resttest.Data[[]apiPartner](t, s.Get("/v1/partners"))[0],
		} {
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Error(diff)
			}
		}
		s.opens(t, []bool{true, false, false}, made.Key, "hco_"+made.Key[4:], string(rootToken))
		s.As(made.Key).Get("/v1/whoami").Is(t, 401, "unauthorized")
	})
}

func TestAPartnersKeyLivesUntilItEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.admit(t)
		rotate := func(body string) string {
			answer := s.Post(made.path()+"/rotate", body)
			answer.Is(t, 200, "")
			return resttest.Data[apiPartner](t, answer).Key
		}
		second := rotate("")
		s.clock.advance(24*time.Hour - time.Millisecond)
		s.opens(t, []bool{true, true}, made.Key, second)
		s.clock.advance(time.Millisecond)
		s.opens(t, []bool{false, true}, made.Key, second)
		third := rotate(`{"graceSeconds":0}`)
		s.opens(t, []bool{false, true}, second, third)

		s.Patch(made.path(), `{"expiresAt":"2026-04-12T12:00:01Z"}`).Is(t, 200, "")
		s.clock.advance(time.Second)
		s.opens(t, []bool{false}, third)
		s.Post(made.path()+"/rotate", "").Is(t, 409, "invalid_transition")
		s.Patch(made.path(), `{"expiresAt":null}`).Is(t, 200, "")
		s.opens(t, []bool{true}, third)

		revoked := s.Delete(made.path())
		revoked.Is(t, 200, "")
		s.opens(t, []bool{false}, third)
		s.clock.advance(time.Hour)
		if again := s.Delete(made.path()); string(again.Data) != string(revoked.Data) {
			t.Errorf("%s", again.Data)
		}
		s.Post(made.path()+"/rotate", "").Is(t, 409, "invalid_transition")
		s.Patch(made.path(), `{"expiresAt":null,"name":"New"}`).Is(t, 409, "invalid_transition")
		s.opens(t, []bool{false}, third)
	})
}

func TestAnOriginIsAcceptedWhileALiveKeyHasIt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const old, other = "https://app.acme.example", "http://localhost:3000"
		has := func(origin string, want bool) {
			t.Helper()
			if got, err := s.keys.HasOrigin(t.Context(), origin); err != nil || got != want {
				t.Errorf("%s: %v, %v", origin, got, err)
			}
		}
		has(old, false)
		made, twin := s.admit(t), s.admit(t)
		has(old, true)
		has(old+":443", false)
		s.Patch(made.path(), `{"origins":["`+other+`"]}`).Is(t, 200, "")
		has(old, true)
		has(other, true)
		s.Delete(twin.path()).Is(t, 200, "")
		has(old, false)
		has(other, true)
		found, err := s.keys.Authenticate(t.Context(), made.Key)
		must(t, err)
		if found.AllowsOrigin(old) || !found.AllowsOrigin(other) {
			t.Errorf("%+v", found)
		}
	})
}

func TestTheLastUseOfAKeyIsWrittenDownAtTheEndAndIsNoNewVersion(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		used, unused := s.admit(t), s.admit(t)
		s.clock.advance(time.Minute)
		s.keys.Used(id.Partner(used.ID), 1, 0)
		s = s.again(t)
		answer := s.Get(used.path())
		if now := resttest.Data[apiPartner](t, answer); now.LastUsedAt == nil || *now.LastUsedAt != "2026-04-11T12:01:00.000Z" ||
			answer.Header.Get("ETag") != `"1"` {
			t.Errorf("%v %+v", answer.Header, now)
		}
		if now := resttest.Data[apiPartner](t, s.Get(unused.path())); now.LastUsedAt != nil {
			t.Errorf("%+v", now)
		}
	})
}

func TestPartnersAreForAdminsAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		client, none := s.with(t, "read", "write"), "/v1/partners/prt_"+strings.Repeat("0", 26)
		for _, operation := range []string{
			"GET /v1/partners", "POST /v1/partners", "GET " + none, "PATCH " + none, "DELETE " + none, "POST " + none + "/rotate",
		} {
			method, path, _ := strings.Cut(operation, " ")
			body := ""
			if method == "POST" || method == "PATCH" {
				body = "{}"
			}
			answer := send(client, method, path, body)
			answer.Is(t, 403, "insufficient_scope")
			if answer.Error.Details.Required != "admin" {
				t.Errorf("%s: %s", operation, answer.Body)
			}
		}
	})
}

func TestEveryChangeOfAPartnerIsInTheActivityLogAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.admit(t)
		answers := []resttest.Answer{s.Get(made.path())}
		for _, body := range []string{`{}`, `{"name":"Acme Data"}`} {
			s.Patch(made.path(), body).Is(t, 200, "")
		}
		answers = append(answers, s.Patch(made.path(), `{"name":"Acme"}`), s.Post(made.path()+"/rotate", ""), s.Delete(made.path()))
		s.Delete(made.path()).Is(t, 200, "")

		events := s.events(t, "")[1:] // after the first token
		want := []event.Type{event.PartnerCreated, event.PartnerUpdated, event.PartnerRotated, event.PartnerRevoked}
		if len(events) != len(want) {
			t.Fatalf("%+v", events)
		}
		for i, e := range events {
			shown := object(t, answers[i].Data)
			delete(shown, "key")
			data, err := json.Marshal(e.Data)
			must(t, err)
			diff := cmp.Diff(shown, object(t, data))
			if diff != "" || e.Type != want[i] || e.Subject != (event.Subject{Type: "partner", ID: made.ID}) ||
				!strings.HasPrefix(string(e.Actor), "token:tok_") || !webhook.IsSent(e.Type) {
				t.Errorf("%+v %s", e, diff)
			}
		}
		if diff := cmp.Diff(event.Fields{event.F("name", "Acme Data")}, events[1].Previous); diff != "" {
			t.Error(diff)
		}
	})
}
