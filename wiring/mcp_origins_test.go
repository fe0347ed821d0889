package wiring_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A name can be made to resolve to any machine, so a page of the same origin as the request is not enough.
func TestPagesOfKnownOriginsAloneUseTheGateway(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_GATEWAY_ORIGINS=http://localhost:6274, https://app.example.com",
		"HOLDCO_GATEWAY_URL=https://Agents.example.com:443/holdco")
	_, ada := s.employ(t, "acme")
	own := strings.TrimPrefix(s.gatewayURL, "http://")
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{own, "", 200},
		{"anything.example", "", 200}, // a program, which sends no origin
		{own, "http://" + own, 200},
		{"localhost:3103", "http://localhost:3103", 200},
		{"localhost", "http://localhost", 200},
		{"[::1]:3103", "http://[::1]:3103", 200},
		{"[::1]", "http://[::1]", 200},
		{"192.0.2.7:3103", "http://192.0.2.7:3103", 200},
		{own, "https://agents.example.com", 200},
		{own, "http://localhost:6274", 200},
		{own, "https://app.example.com", 200},

		{"evil.example:3103", "http://evil.example:3103", 403}, // it resolves to this machine
		{"localhost.evil.example", "http://localhost.evil.example", 403},
		{"127.0.0.1.evil.example", "http://127.0.0.1.evil.example", 403},
		{"evil.example", "https://agents.example.com.evil.example", 403},
		{own, "http://evil.example", 403},
		{own, "https://" + own, 403},
		{own, "http://localhost", 403},
		{own, "http://localhost:6275", 403},
		{own, "https://localhost:6274", 403},
		{own, "http://agents.example.com", 403},
		{own, "null", 403},
		{"", "http://", 403},
	} {
		request := s.message(t, ada.Token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		me, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.gatewayURL+"/gateway/v1/me", http.NoBody)
		must(t, err)
		me.Header.Set("Authorization", "Bearer "+ada.Token)
		for _, sent := range []*http.Request{request, me} {
			sent.Host = c.host
			if c.origin != "" {
				sent.Header.Set("Origin", c.origin)
			}
			status, header := replyTo(t, sent)
			allowed := header.Get("Access-Control-Allow-Origin")
			isListed := c.origin == "http://localhost:6274" || c.origin == "https://app.example.com"
			if status != c.want || isListed != (allowed == c.origin && c.origin != "") || !isListed && allowed != "" {
				t.Errorf("%s of %q at %q: %d, allowed %q", sent.Method, c.origin, c.host, status, allowed)
			}
		}
	}
}

func TestABrowserMayAskBeforeAPageOfAListedOriginCallsTools(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_GATEWAY_ORIGINS=http://localhost:6274")
	for origin, isListed := range map[string]bool{"http://localhost:6274": true, "http://localhost:1": false} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.gatewayURL+"/gateway/mcp", http.NoBody)
		must(t, err)
		request.Header.Set("Origin", origin)
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Access-Control-Request-Headers", "authorization,content-type,mcp-protocol-version")
		status, header := replyTo(t, request)
		if status != 204 || !slices.Contains(header.Values("Vary"), "Origin") {
			t.Errorf("%s: %d %v", origin, status, header)
		}
		if got := header.Get("Access-Control-Allow-Origin"); (got == origin) != isListed || !isListed && got != "" {
			t.Errorf("%s: allowed %q", origin, got)
		}
		for _, name := range []string{"authorization", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"} {
			if strings.Contains(header.Get("Access-Control-Allow-Headers"), name) != isListed {
				t.Errorf("%s: the headers are %q", origin, header.Get("Access-Control-Allow-Headers"))
			}
		}
		if strings.Contains(header.Get("Access-Control-Allow-Methods"), "POST") != isListed {
			t.Errorf("%s: the methods are %q", origin, header.Get("Access-Control-Allow-Methods"))
		}
	}
}

// replyTo sends a request, and returns the status and the headers of the answer.
func replyTo(t *testing.T, request *http.Request) (int, http.Header) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	must(t, err)
	return response.StatusCode, response.Header
}
