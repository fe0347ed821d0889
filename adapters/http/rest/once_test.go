package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
)

func keyed(path, body, key string) resttest.Request {
	return resttest.Request{Method: http.MethodPost, Path: path, Body: body, Header: map[string]string{"Idempotency-Key": key}}
}

func TestARepeatGetsTheFirstAnswerAgain(t *testing.T) {
	t.Parallel()
	const withTeams = `{"name":"<Acme> & Co","slug":"acme","startingTeams":[{"name":"Research","headcount":2}]}`
	for _, body := range []string{acme, withTeams} {
		w := newWorld(t)
		first := w.Send(keyed("/v1/companies", body, "k"))
		again := w.Send(keyed("/v1/companies", body, "k"))
		if first.Header.Get("Idempotency-Replayed") != "" || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Error("only the repeat is marked as one")
		}
		for _, header := range []string{"Location", "ETag"} {
			if first.Header.Get(header) != again.Header.Get(header) {
				t.Errorf("%s was %q, then %q", header, first.Header.Get(header), again.Header.Get(header))
			}
		}
		if first.Status != again.Status || first.Meta.RequestID == again.Meta.RequestID || len(w.companies.all) != 1 {
			t.Errorf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
		}
		if diff := cmp.Diff(string(first.Data), string(again.Data)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMovesCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	first := w.Send(keyed(path+"/archive", "", "a"))
	again := w.Send(keyed(path+"/archive", "{}", "a")) // {} is no body
	again.Is(t, http.StatusOK, "")
	if diff := cmp.Diff(string(first.Data), string(again.Data)); diff != "" || again.Header.Get("ETag") != `"2"` {
		t.Error(diff, again.Header)
	}
}

func TestAKeyBelongsToOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := found(t, w, acme)
	w.Send(keyed(path+"/archive", "", "k")).Is(t, http.StatusOK, "")
	w.Send(keyed(path+"/restore", "", "k")).Is(t, http.StatusConflict, "idempotency_conflict")
	w.Send(keyed("/v1/companies", `{"name":"B","slug":"b"}`, "k")).Is(t, http.StatusConflict, "idempotency_conflict")
	w.As("writer").Send(keyed("/v1/companies", `{"name":"B","slug":"b"}`, "k")).Is(t, http.StatusCreated, "")
}

func TestFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wrong := keyed("/v1/companies", `{"name":"A"}`, "k")
	wrong.Wrong = true
	w.Send(wrong).Is(t, http.StatusUnprocessableEntity, "validation_failed")
	w.Send(keyed("/v1/companies", acme, "k")).Is(t, http.StatusCreated, "")
}

func TestAKeyIsVisibleASCII(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"a b", "ä", strings.Repeat("k", 256), "a\tb"} {
		request := keyed("/v1/companies", acme, key)
		request.Wrong = true
		answer := w.Send(request)
		answer.Is(t, http.StatusBadRequest, "invalid_parameter")
		if answer.Error.Details.Parameter != "Idempotency-Key" {
			t.Errorf("%s", answer.Body)
		}
	}
	w.Send(keyed("/v1/companies", acme, strings.Repeat("~", 255))).Is(t, http.StatusCreated, "")
}

func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const body = `{"name":"ci","scopes":["read"]}`
	first := resttest.Data[rest.Token](t, w.Send(keyed("/v1/tokens", body, "k")))
	repeated := w.Send(keyed("/v1/tokens", body, "k"))
	repeated.Is(t, http.StatusCreated, "")
	again := resttest.Data[rest.Token](t, repeated)
	if first.Token == nil || again.Token != nil || first.ID != again.ID || repeated.Header.Get("Location") != "/v1/tokens/"+first.ID {
		t.Errorf("%+v, then %s", first, repeated.Body)
	}
	rotated := resttest.Data[rest.Token](t, w.Send(keyed("/v1/tokens/"+first.ID+"/rotate", "", "r")))
	again = resttest.Data[rest.Token](t, w.Send(keyed("/v1/tokens/"+first.ID+"/rotate", "", "r")))
	if rotated.Token == nil || again.Token != nil || len(w.tokens.receipts) != 2 {
		t.Errorf("%+v, then %+v", rotated, again)
	}
	for _, receipt := range w.tokens.receipts {
		if strings.Contains(string(receipt.Answer), *first.Token) || strings.Contains(string(receipt.Answer), *rotated.Token) {
			t.Errorf("a kept answer shows a secret: %s", receipt.Answer)
		}
	}
}
