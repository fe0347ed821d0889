package partner

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

//go:embed openapi/*.yaml
var sources embed.FS

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

// API is the handler of every operation of the OpenAPI document.
type API struct {
	http.Handler
	BreakOff func() // ends the streams that are running, and all that begin later: a client can resume on another replica
}

// New makes the handler. It fails when the OpenAPI document is not fit to be served, or when its
// operations are not those that have handlers.
func New(options Options) (*API, error) {
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
		Bare: true, CORS: pagesOf(options.Auth),
	})
	text, err := document.JSON()
	if err != nil {
		return nil, err
	}
	running, breakOff := context.WithCancel(context.Background())
	shown := lists{options.Export, options.Clock, httpkit.DigestTag(text), &buffers{}}
	leads := leads{lists: shown, running: running}

	err = table.Serve(router.Group("", table.PartnerGate(options.Auth, options.Limits)), httpkit.Writers{
		"listLeads":        leads.list,
		"listRemovedLeads": leads.removed,
		"getLead":          leads.get,
		"listCampaigns":    campaigns{shown}.list,
		"getTaxonomy":      taxonomy{options.Export}.get,
		"openapi":          showDocument,
		"health":           httpkit.Health,
		"ready":            func(c *gin.Context) { httpkit.Ready(c, options.Ready) },
	})
	if err != nil {
		breakOff()
		return nil, err
	}
	httpkit.AddPages(router, options.Pages)
	return &API{httpkit.Compressed(router), breakOff}, nil
}

// Document assembles the OpenAPI document of this API from the files in the folder openapi.
func Document() (*httpkit.Document, error) {
	files, err := fs.Sub(sources, "openapi")
	if err != nil {
		return nil, err
	}
	return httpkit.Assemble(files)
}

// pagesOf allows pages to call the API whose origin is registered with any key: a preflight carries no key. PartnerGate
// checks that the origin is registered with the key of the request.
func pagesOf(auth inbound.PartnerAuthenticator) *httpkit.CORS {
	return &httpkit.CORS{
		Allows:  auth.HasOrigin,
		Methods: []string{http.MethodGet, http.MethodHead},
		Headers: []string{"authorization", "if-none-match", "if-modified-since", "accept"},
		Exposed: []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Retry-After", "X-Request-Id"},
	}
}
