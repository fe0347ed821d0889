package rest_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

func TestTheProbesNeedNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.As("").Get("/healthz").Is(t, http.StatusOK, "")
	w.As("").Get("/readyz").Is(t, http.StatusOK, "")
	w.ready = errors.New("the store has another schema")
	w.As("").Get("/healthz").Is(t, http.StatusOK, "")
	w.As("").Get("/readyz").Is(t, http.StatusServiceUnavailable, "unavailable")
}

func TestTheReferenceIsServedAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/docs", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || string(body) != "The reference." || response.Header.Get("X-Request-Id") == "" {
		t.Errorf("%d %q %v %v", response.StatusCode, body, response.Header, err)
	}
}
