package rest

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

//go:embed openapi/*.yaml
var sources embed.FS

// Options are what the API needs. Everything is required but Proxies, Pages, Watch and Origins.
type Options struct {
	Resources []httpkit.Handlers // of all operations of the document that need a token
	Auth      inbound.Authenticator
	Limits    httpkit.Limits
	Proxies   httpkit.Proxies             // whose X-Forwarded-For is believed
	Ready     func(context.Context) error // fails while requests cannot be served
	Clock     outbound.Clock
	IDs       outbound.IDs
	Log       *slog.Logger
	Pages     map[string]http.Handler // what else is served, to anybody, by its path: the API reference, say
	Watch     []func(ctx context.Context, e httpkit.Exchange)
	Origins   []string // whose pages may use the API from within a browser
}

// New makes the handler of the whole API. It fails when the OpenAPI document is not fit to be served, or when its
// operations are not those that have handlers.
func New(options Options) (http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	table, err := document.Table()
	if err != nil {
		return nil, err
	}
	showDocument, err := document.Handler()
	if err != nil {
		return nil, err
	}
	router := httpkit.New(httpkit.Options{
		Clock: options.Clock, IDs: options.IDs, Log: options.Log, Proxies: options.Proxies, Watch: options.Watch,
		CORS: pagesOf(options.Origins),
	})
	routes := []httpkit.Routes{httpkit.Writers{
		"health":  httpkit.Health,
		"ready":   func(c *gin.Context) { httpkit.Ready(c, options.Ready) },
		"openapi": showDocument,
	}}
	for _, resource := range options.Resources {
		routes = append(routes, resource)
	}
	if err := table.Serve(router.Group("", table.Gate(options.Auth, options.Limits)), routes...); err != nil {
		return nil, err
	}
	httpkit.AddPages(router, options.Pages)
	return httpkit.Compressed(router), nil
}

// Document assembles the OpenAPI document of this API from the files in the folder openapi.
func Document() (*httpkit.Document, error) {
	files, err := fs.Sub(sources, "openapi")
	if err != nil {
		return nil, err
	}
	return httpkit.Assemble(files)
}

// pagesOf lets pages of these origins use the API.
func pagesOf(origins []string) *httpkit.CORS {
	if origins == nil {
		return nil
	}
	return &httpkit.CORS{
		Allows:  func(_ context.Context, origin string) (bool, error) { return slices.Contains(origins, origin), nil },
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete},
		Headers: []string{"authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-request-id"},
		Exposed: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Idempotency-Replayed", "Location", "Retry-After",
			"X-Request-Id",
		},
	}
}
