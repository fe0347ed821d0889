package httpkit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/fault"
	"holdco/domain/ratelimit"
)

// limitHeaders returns the headers about limits: limit, remaining, reset.
func limitHeaders(header http.Header) [3]string {
	return [3]string{header.Get("RateLimit-Limit"), header.Get("RateLimit-Remaining"), header.Get("RateLimit-Reset")}
}

func TestEveryAuthenticatedAnswerReportsWhatIsLeft(t *testing.T) {
	t.Parallel()
	read, costly, none := [3]string{"600", "599", "60"}, [3]string{"10", "9", "60"}, [3]string{}
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		want                      [3]string
	}{
		{"all", "GET", "/things", "", 200, read},
		{"all", "HEAD", "/things", "", 200, read},
		{"all", "GET", "/things?x=1", "", 400, read},
		{"write", "GET", "/things", "", 403, read},
		{"read", "POST", "/things/1/act", "", 200, costly},
		{"read", "POST", "/things/1/act", "[", 400, costly},
		{"all", "POST", "/things", "{}", 200, none}, // its limit is off
		{"nobody", "GET", "/things", "", 401, none},
		{"all", "GET", "/public", "", 200, none},
		{"all", "GET", "/nothing", "", 404, none},
		{"all", "DELETE", "/things", "", 405, none},
	} {
		answer := newKit(t).ask(c.method, c.path, c.body, "Authorization", "Bearer "+c.token)
		if got := limitHeaders(answer.header); answer.status != c.status || got != c.want {
			t.Errorf("%+v: %d %v", c, answer.status, got)
		}
	}
	spared := newKit(t).ask("GET", "/things", "", "If-None-Match", `"1"`)
	if spared.status != 304 || limitHeaders(spared.header) != read {
		t.Errorf("%d %v", spared.status, spared.header)
	}
}

func TestRequestsBeyondTheLimitAreRefusedAfterTheTokenAndBeforeTheScope(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.limiter.full = true
	answer := k.ask("GET", "/things?x=1", "[", "Authorization", "Bearer write")
	answer.is(t, "beyond the limit", 429, fault.RateLimited)
	if got := limitHeaders(answer.header); got != [3]string{"600", "0", "42"} || answer.header.Get("Retry-After") != "42" {
		t.Errorf("%v", answer.header)
	}
	k.ask("GET", "/public", "").is(t, "public", 200, "")
	k.ask("GET", "/nothing", "").is(t, "path before limit", 404, fault.NotFound)
	k.ask("DELETE", "/things", "").is(t, "method before limit", 405, fault.MethodNotAllowed)
	k.ask("POST", "/things", "{}").is(t, "no limit", 200, "")
}

func TestRequestsAreCountedByTokenAndClass(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.ask("GET", "/things", "")
	k.ask("HEAD", "/things", "", "Authorization", "Bearer read")
	k.ask("POST", "/things", "{}")
	k.ask("POST", "/things/1/act", "")
	k.ask("GET", "/public", "")
	want := map[ratelimit.Key]ratelimit.Limit{
		ratelimit.ByToken("tok_all", ratelimit.Read):   600,
		ratelimit.ByToken("tok_read", ratelimit.Read):  600,
		ratelimit.ByToken("tok_all", ratelimit.Costly): 10,
	}
	if diff := cmp.Diff(want, k.limiter.taken); diff != "" {
		t.Error(diff)
	}
}

func TestFailedAuthenticationsAreCountedByAddress(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.ask("GET", "/things", "", "Authorization", "Bearer nobody").is(t, "first", 401, fault.Unauthorized)
	k.ask("GET", "/things", "", "Authorization", "").is(t, "no token", 401, fault.Unauthorized)
	if diff := cmp.Diff(map[ratelimit.Key]ratelimit.Limit{ratelimit.ByClient("192.0.2.1"): 60}, k.limiter.taken); diff != "" {
		t.Error(diff)
	}
	k.limiter.full = true
	answer := k.ask("GET", "/things", "", "Authorization", "Bearer nobody")
	answer.is(t, "too often", 429, fault.RateLimited)
	if answer.header.Get("Retry-After") != "42" || limitHeaders(answer.header) != [3]string{} ||
		answer.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%v", answer.header)
	}
	k.ask("POST", "/things", "{}").is(t, "a valid token passes", 200, "")
}

func TestTheClientIsWhomTrustedProxiesReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peer      string
		forwarded []string
		client    string
		counted   string // empty: as the client
	}{
		{peer: "192.0.2.1:1234", client: "192.0.2.1"},
		{peer: "192.0.2.1:1234", forwarded: []string{"198.51.100.7"}, client: "192.0.2.1"}, // a stranger says so
		{peer: "10.1.2.3:1234", client: "10.1.2.3"},
		{peer: "10.1.2.3:1234", forwarded: []string{"198.51.100.7"}, client: "198.51.100.7"},
		{peer: "10.1.2.3:1234", forwarded: []string{"198.51.100.7:5555"}, client: "198.51.100.7"},
		{peer: "10.1.2.3:1234", forwarded: []string{"203.0.113.9, 198.51.100.7, 10.9.9.9"}, client: "198.51.100.7"},
		{peer: "10.1.2.3:1234", forwarded: []string{"203.0.113.9", "198.51.100.7,10.9.9.9"}, client: "198.51.100.7"},
		{peer: "10.1.2.3:1234", forwarded: []string{"10.0.0.1,10.9.9.9"}, client: "10.0.0.1"},
		{peer: "10.1.2.3:1234", forwarded: []string{"198.51.100.7, unknown, 10.9.9.9"}, client: "10.9.9.9"},
		{peer: "10.1.2.3:1234", forwarded: []string{"nonsense"}, client: "10.1.2.3"},
		{peer: "10.1.2.3:1234", forwarded: []string{""}, client: "10.1.2.3"},
		{peer: "[::ffff:10.1.2.3]:1234", forwarded: []string{"::ffff:198.51.100.7"}, client: "198.51.100.7"},
		{peer: "[fd00::1]:1234", forwarded: []string{"[2001:db8:1:2:3::4]:80"}, client: "2001:db8:1:2:3::4", counted: "2001:db8:1:2::/64"},
		{peer: "[2001:db8:1:2::9]:1234", client: "2001:db8:1:2::9", counted: "2001:db8:1:2::/64"},
		{peer: "[fe80::1%eth0]:1234", client: "fe80::1", counted: "fe80::/64"},
	} {
		k := newKit(t)
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/things", nil)
		request.RemoteAddr, request.Header["X-Forwarded-For"] = c.peer, c.forwarded
		k.send(request).is(t, c.peer, 401, fault.Unauthorized)
		if !strings.Contains(k.log.String(), `"remote":"`+c.client+`"`) {
			t.Errorf("%+v: logged %s", c, k.log)
		}
		if c.counted == "" {
			c.counted = c.client
		}
		if _, ok := k.limiter.taken[ratelimit.ByClient(c.counted)]; !ok || len(k.limiter.taken) != 1 {
			t.Errorf("%+v: counted %v", c, k.limiter.taken)
		}
	}
}
