package rest

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

//go:embed openapi.yaml
var source []byte

// Options are what the API needs. Everything is required but Proxies, Pages, Watch and Origins.
type Options struct {
	Companies inbound.Companies
	Tokens    inbound.Tokens
	Webhooks  inbound.Webhooks
	Partners  inbound.Partners
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

// API is every operation of openapi.yaml: one struct per resource, each in its own file.
type API struct {
	companies
	tokens
	webhooks
	partners
	system
}

var _ ServerInterface = API{}

// New makes the handler of the whole API. It fails when the OpenAPI document is not fit to be served.
func New(options Options) (http.Handler, error) {
	table, err := httpkit.ReadTable(source)
	if err != nil {
		return nil, err
	}
	document, err := httpkit.Published(source)
	if err != nil {
		return nil, err
	}
	router := httpkit.New(httpkit.Options{
		Clock: options.Clock, IDs: options.IDs, Log: options.Log, Proxies: options.Proxies, Watch: options.Watch,
		CORS: pagesOf(options.Origins),
	})
	api := API{
		companies: companies{options.Companies},
		tokens:    tokens{options.Tokens},
		webhooks:  webhooks{options.Webhooks},
		partners:  partners{options.Partners},
		system:    system{options.Ready, document},
	}
	gated := httpkit.WithHead(router.Group("", table.Gate(options.Auth, options.Limits)))
	RegisterHandlersWithOptions(gated, api, GinServerOptions{ErrorHandler: unbound})
	httpkit.AddPages(router, options.Pages)
	return httpkit.Compressed(router), nil
}

// pagesOf lets pages of these origins use the API.
func pagesOf(origins []string) *httpkit.CORS {
	if origins == nil {
		return nil
	}
	return &httpkit.CORS{
		Knows:   func(_ context.Context, origin string) (bool, error) { return slices.Contains(origins, origin), nil },
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete},
		Headers: []string{"authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-request-id"},
		Exposed: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Idempotency-Replayed", "Location", "Retry-After",
			"X-Request-Id",
		},
	}
}

// unbound is called for a parameter that the generated code cannot read. The gate has refused all of these before.
func unbound(c *gin.Context, err error, _ int) {
	httpkit.Fail(c, errors.New("a parameter has passed the gate and cannot be read: "+err.Error()))
}
