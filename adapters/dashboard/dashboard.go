package dashboard

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/ports/inbound"
)

// Options are what the dashboard needs.
type Options struct {
	httpkit.Service // its Pages are not served

	API      http.Handler // of the orchestration API
	Sessions inbound.Sessions
	Version  string // of the program
}

// policy lets the page load its own files and ask its own origin, nothing else. No value of a script becomes HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'"

// permissions turns off what the page has no use for.
const permissions = "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), fullscreen=(), " +
	"geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()"

var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           permissions,
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

type dashboard struct {
	Options

	own    http.Handler // everything that is not the API
	origin *http.CrossOriginProtection
}

// New makes the handler of everything on the dashboard's listener.
func New(options Options) (http.Handler, error) {
	built, err := files()
	if err != nil {
		return nil, err
	}
	d := &dashboard{Options: options, origin: http.NewCrossOriginProtection()}
	router := httpkit.New(options.Options)
	httpkit.AddRoutes(router, map[string]gin.HandlerFunc{
		"GET " + httpkit.HealthPath: httpkit.Health,
		"GET " + httpkit.ReadyPath:  func(c *gin.Context) { httpkit.Ready(c, options.Ready) },
		"GET /session":              d.show,
		"POST /session":             d.signIn,
		"DELETE /session":           d.signOut,
	})
	router.NoRoute(built.serve)
	d.own = router
	return d, nil
}

// ServeHTTP answers below /v1 as the API does, to who is signed in.
func (d *dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		d.own.ServeHTTP(w, r)
		return
	}
	authenticate := func() (access.Caller, error) { return d.caller(r) }
	d.API.ServeHTTP(w, r.WithContext(httpkit.WithCaller(r.Context(), authenticate)))
}

// caller is who is signed in. A page of another origin is refused even what it could not read: no page spends somebody's costly
// requests. So is a token, so that to publish the dashboard is not to publish the API for programs.
func (d *dashboard) caller(r *http.Request) (access.Caller, error) {
	if err := d.checkOrigin(r); err != nil {
		return access.Caller{}, err
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return access.Caller{}, errOrigin
	}
	if len(r.Header.Values("Authorization")) > 0 {
		return access.Caller{}, fault.New(fault.Unauthorized, "The dashboard takes no tokens; the API for programs is at another address.")
	}
	found, err := d.signedIn(r)
	return found.Token.Caller(), err
}

// checkOrigin refuses writes for pages of other origins, those on other ports of the same host too.
func (d *dashboard) checkOrigin(r *http.Request) error {
	if d.origin.Check(r) != nil {
		return errOrigin
	}
	return nil
}

var errOrigin = fault.New(fault.OriginNotAllowed, "The request comes from a page that is not the dashboard.")
