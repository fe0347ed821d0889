package partner

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/ratelimit"
	"holdco/ports/inbound"
)

//go:embed openapi/*.yaml
var sources embed.FS

// Root is what the paths of the API begin with.
const Root = "/api/external"

// Options are what the API needs.
type Options struct {
	httpkit.Service

	Exports inbound.Exports
	Auth    inbound.PartnerAuthenticator
}

// New makes the handler of every operation of the OpenAPI document. It fails when that is not fit to be served, or when its operations
// are not those that have handlers.
func New(options Options) (http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	text, err := document.JSON()
	if err != nil {
		return nil, err
	}
	shown := lists{options.Exports, options.Clock, options.Auth, httpkit.DigestTag(text), &buffers{}}
	leads := leads{shown, options.Stopping}

	options.Bare, options.CORS = true, pagesOf(options.Auth)
	gate := func(t httpkit.Table) gin.HandlerFunc { return t.PartnerGate(options.Auth, options.Limits) }
	return document.Serve(options.Service, gate, httpkit.Writers{
		"listLeads":        leads.list,
		"listLeadChanges":  leads.changes,
		"listRemovedLeads": leads.removed,
		"getLead":          leads.get,
		"listCampaigns":    campaigns{shown}.list,
		"getTaxonomy":      taxonomy{options.Exports}.get,
		"getMe":            own{options.Limits.ByClass.Of(ratelimit.Partner)}.get,
	})
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
		Headers: []string{"authorization", "if-none-match", "if-modified-since", "accept", "x-request-id"},
		Exposed: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Retry-After", "X-Request-Id", "Deprecation", "Sunset",
		},
	}
}
