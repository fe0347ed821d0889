package partner_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/http/partner/partnertest"
)

func TestAPageOfARegisteredOriginMayAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	allow := func(answer partnertest.Answer) string { return answer.Header.Get("Access-Control-Allow-Origin") }
	exposed := func(answer partnertest.Answer) string { return answer.Header.Get("Access-Control-Expose-Headers") }
	for _, c := range []struct {
		path, key, origin string
		status            int
		allowed           bool
	}{
		{"leads", key, home, 200, true},
		{"leads/cmp_none", key, home, 404, true},
		{"leads", "nobody", home, 401, true},
		{"leads", "nobody", elsewhere, 401, false},
		{"leads", key, elsewhere, 403, false},
		{"leads", key, otherHome, 403, false}, // registered, but with another key
		{"leads", otherKey, otherHome, 200, true},
		{"leads", key, strings.ToUpper(home), 403, false},
		{"leads", key, home + ":443", 403, false},
		{"leads", key, home + "/", 403, false},
		{"leads", key, "null", 403, false},
		{"leads", key, home + ", " + home, 403, false},
		{"nothing", key, home, 404, true},
	} {
		answer := w.As(c.key).Wrong(c.path, "Origin", c.origin)
		want := ""
		if c.allowed {
			want = c.origin
		}
		if answer.Status != c.status || allow(answer) != want || (exposed(answer) != "") != c.allowed && c.status != 403 {
			t.Errorf("%+v: %d %v", c, answer.Status, answer.Header)
		}
		if !slices.Contains(answer.Header.Values("Vary"), "Origin") {
			t.Errorf("%+v: Vary is %v", c, answer.Header.Values("Vary"))
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/external/leads", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + key}, "Origin": {home, home}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("two origins: %d", response.StatusCode)
	}
	answer := w.Get("leads")
	if allow(answer) != "" || exposed(answer) != "" {
		t.Errorf("without an origin: %v", answer.Header)
	}
}

func TestAPreflightIsAnsweredForOriginsOfAnyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(path, origin string) partnertest.Answer {
		return w.As("").Send(partnertest.Request{Method: http.MethodOptions, Path: path, Wrong: true, Header: map[string]string{
			"Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization",
		}})
	}
	for _, origin := range []string{home, otherHome} {
		answer := ask("leads", origin)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin":  origin,
			"Access-Control-Allow-Methods": "GET, HEAD",
			"Access-Control-Allow-Headers": "authorization, if-none-match, if-modified-since, accept, x-request-id",
			"Access-Control-Max-Age":       "600",
			"Access-Control-Expose-Headers": "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ETag, Retry-After, X-Request-Id, " +
				"Deprecation, Sunset",
			"Vary": "Accept-Encoding, Origin",
		} {
			if got := strings.Join(answer.Header.Values(name), ", "); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if answer.Status != http.StatusNoContent || answer.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("%d %v", answer.Status, answer.Header)
		}
	}
	unknown := ask("leads", elsewhere)
	for name := range unknown.Header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("an unknown origin gets the header %s", name)
		}
	}
	if unknown.Status != http.StatusNoContent || !slices.Contains(unknown.Header.Values("Vary"), "Origin") {
		t.Errorf("%d %v", unknown.Status, unknown.Header)
	}
	if answer := ask("nothing", home); answer.Status != http.StatusNotFound {
		t.Errorf("an unknown path: %d", answer.Status)
	}
}
