package partner

import (
	"context"
	_ "embed"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

//go:embed openapi.yaml
var source []byte

// Root is what the paths of the API begin with.
const Root = "/api/external"

// Options are what the API needs. Everything is required but Proxies, Pages and Watch.
type Options struct {
	Export  inbound.Export
	Auth    inbound.PartnerAuthenticator
	Limits  httpkit.Limits
	Proxies httpkit.Proxies             // whose X-Forwarded-For is believed
	Ready   func(context.Context) error // fails while requests cannot be served
	Clock   outbound.Clock
	IDs     outbound.IDs
	Log     *slog.Logger
	Pages   map[string]http.Handler // what else is served, to anybody, by its path: the API reference, say
	Watch   []func(ctx context.Context, e httpkit.Exchange)
}

// API is the handler of every operation of openapi.yaml.
type API struct {
	http.Handler
	BreakOff func() // ends the streams that are running, and all that begin later: who reads one can go on elsewhere
}

// New makes the handler. It fails when the OpenAPI document is not fit to be served.
func New(options Options) (*API, error) {
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
		Bare: true, CORS: pagesOf(options.Auth),
	})
	running, breakOff := context.WithCancel(context.Background())
	shown := lists{options.Export, options.Clock, httpkit.DigestTag(source), &buffers{}}
	leads := leads{lists: shown, running: running}

	gated := httpkit.WithHead(router.Group("", table.PartnerGate(options.Auth, options.Limits)))
	gated.GET(Root+"/leads", leads.list)
	gated.GET(Root+"/leads/removed", leads.removed)
	gated.GET(Root+"/leads/:id", leads.get)
	gated.GET(Root+"/campaigns", campaigns{shown}.list)
	gated.GET(Root+"/taxonomy", taxonomy{options.Export}.get)
	gated.GET(Root+"/openapi.json", document)
	gated.GET(httpkit.HealthPath, httpkit.Health)
	gated.GET(httpkit.ReadyPath, func(c *gin.Context) { httpkit.Ready(c, options.Ready) })
	httpkit.AddPages(router, options.Pages)
	return &API{httpkit.Compressed(router), breakOff}, nil
}

// pagesOf lets pages of the origins ask that are registered with any key. Whether it is the key that they use is seen
// when they show it.
func pagesOf(auth inbound.PartnerAuthenticator) *httpkit.CORS {
	return &httpkit.CORS{
		Knows:   auth.KnowsOrigin,
		Methods: []string{http.MethodGet, http.MethodHead},
		Headers: []string{"authorization", "if-none-match", "if-modified-since", "accept"},
		Exposed: []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Retry-After", "X-Request-Id"},
	}
}
