package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"holdco/adapters/http/httpkit"
)

// allowsOrigin reports whether a page of an origin may send a request: the operator has listed the origin, or it is that of the gateway
// itself. An origin that only equals the host that the request names is not enough: who controls a name can have it resolve to this
// machine, and a page from there is of the same origin then. So that host must be one that nobody can have resolve elsewhere, an address
// or localhost, or that of the URL that the operator has set.
func (o Options) allowsOrigin(r *http.Request, origin string) bool {
	if slices.Contains(o.Origins, origin) || o.URL != "" && origin == originOf(o.URL) {
		return true
	}
	return origin == "http://"+r.Host && isUnambiguous(r.Host)
}

// originOf is the origin of pages at a URL, spelled as browsers send it; empty: there is none.
func originOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(parsed.Host)
	if port := parsed.Port(); parsed.Scheme == "http" && port == "80" || parsed.Scheme == "https" && port == "443" {
		host = host[:len(host)-len(port)-1]
	}
	return parsed.Scheme + "://" + host
}

// isUnambiguous reports whether a host, with or without its port, is an address or localhost: no name server is asked where it is.
func isUnambiguous(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost"
}

// pages lets pages of the origins that the operator has listed use the API from within a browser.
func (o Options) pages() *httpkit.CORS {
	if len(o.Origins) == 0 {
		return nil
	}
	return &httpkit.CORS{
		Allows:  func(_ context.Context, origin string) (bool, error) { return slices.Contains(o.Origins, origin), nil },
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
		Headers: []string{
			"authorization", "content-type", "idempotency-key", "x-request-id",
			"mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "last-event-id",
		},
		Exposed: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Idempotency-Replayed", "Location", "Retry-After",
			"WWW-Authenticate", "X-Request-Id", "Deprecation", "Sunset",
		},
	}
}
