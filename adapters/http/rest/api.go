package rest

import (
	"context"
	"embed"
	"io/fs"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
)

//go:embed openapi/*.yaml
var sources embed.FS

// Options are what the API needs. Everything is required but Origins.
type Options struct {
	httpkit.Service

	Resources []httpkit.Routes // of all operations of the document that need a token
	Auth      inbound.Authenticator
	Origins   []string // whose pages may use the API from within a browser
}

// New makes the handler of the whole API. It fails when the OpenAPI document is not fit to be served, or when its
// operations are not those that have handlers.
func New(options Options) (http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	options.CORS = pagesOf(options.Origins)
	gate := func(t httpkit.Table) gin.HandlerFunc { return t.Gate(options.Auth, options.Limits) }
	return document.Serve(options.Service, gate, options.Resources...)
}

// Document assembles the OpenAPI document of this API from the files in the folder openapi.
func Document() (*httpkit.Document, error) { return httpkit.Assemble(Files()) }

// Files are those in the folder openapi: documents of other APIs show the same resources.
func Files() fs.FS {
	files, err := fs.Sub(sources, "openapi")
	if err != nil {
		panic(err) // it was there when the program was built
	}
	return files
}

// pagesOf lets pages of these origins use the API.
func pagesOf(origins []string) *httpkit.CORS {
	if origins == nil {
		return nil
	}
	return &httpkit.CORS{
		Allows:  func(_ context.Context, origin string) (bool, error) { return slices.Contains(origins, origin), nil },
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete},
		Headers: []string{"authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id", "x-request-id"},
		Exposed: []string{
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Idempotency-Replayed", "Location", "Retry-After",
			"X-Request-Id", "Deprecation", "Sunset",
		},
	}
}
