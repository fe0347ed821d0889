package gateway

import (
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/rest"
	"holdco/ports/inbound"
)

//go:embed openapi/*.yaml
var sources embed.FS

// Root is what the paths of the API begin with.
const Root = "/gateway"

const mcpPath = Root + "/mcp"

// Options are what the API needs.
type Options struct {
	httpkit.Service

	Groups  []httpkit.Routes // of all operations of the document that need a token, but for mcp
	Auth    inbound.AgentAuthenticator
	Self    inbound.AgentSelf // says why there is nothing to claim
	Version string            // of the program
	Origins []string          // of pages that may use the API from within a browser, beside its own
	URL     string            // how agents reach the gateway, if the operator says so; empty: by its address
}

// New makes the handler of the whole API. It fails when the OpenAPI document is not fit to be served, or when its
// operations are not those that have handlers.
func New(options Options) (http.Handler, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	within := options.Service
	within.Watch, within.Pages = nil, nil // what is called within is watched as what it came with
	unreachable := httpkit.Handlers{"mcp": func(httpkit.Request) (httpkit.Answer, error) {
		return httpkit.Answer{}, errors.New("a tool calls tools")
	}}
	within.CORS, within.Refuse = nil, nil
	operations, err := document.Serve(within, httpkit.Table.InnerAgentGate, append(slices.Clone(options.Groups), unreachable)...)
	if err != nil {
		return nil, err
	}
	protocol, err := newMCP(operations, document, options)
	if err != nil {
		return nil, err
	}
	gate := func(t httpkit.Table) gin.HandlerFunc {
		return t.AgentGate(options.Auth, options.Limits, options.allowsOrigin)
	}
	options.CORS, options.Refuse = options.pages(), refuseMessage
	return document.Serve(options.Service, gate, append(slices.Clone(options.Groups), httpkit.Writers{"mcp": protocol})...)
}

// Document assembles the OpenAPI document of this API from the files in the folder openapi. What they do not describe is
// described in those of the orchestration API.
func Document() (*httpkit.Document, error) {
	files, err := fs.Sub(sources, "openapi")
	if err != nil {
		return nil, err
	}
	return httpkit.Assemble(files, rest.Files())
}
