package httpkit

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// Options are what every answer needs.
type Options struct {
	Clock    outbound.Clock
	IDs      outbound.IDs
	Log      *slog.Logger
	Proxies  Proxies
	Watch    []func(ctx context.Context, e Exchange) // called after every answer, with the context of the request
	Bare     bool                                    // errors come as {"error": ...} alone, without meta
	CORS     *CORS                                   // nil: pages of other origins may ask nothing
	Stopping *Stopping                               // nil: the server never stops

	// Refuse answers a request that is refused in another shape than the envelope, with the status, and reports whether it did. nil: it
	// never does. Headers that belong to the refusal are set.
	Refuse func(c *gin.Context, status int, refused Failure) bool

	// Room fails while there is no room for what is written: see Gate. nil: there always is.
	Room func() error

	MostUpload     int64         // how large the body of an operation can be that takes a file, in bytes
	UploadPatience time.Duration // how long a client may send nothing of it; 0: the usual time

	unserved *unserved
}

// New makes a router that matches paths exactly, never redirects, and answers in one shape whatever happens.
func New(options Options) *gin.Engine {
	gin.SetMode(gin.ReleaseMode) // the mode is a global of Gin; in any other it prints to standard output
	router := gin.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.HandleMethodNotAllowed = true
	router.UseRawPath = true // an encoded slash is not a slash
	router.ForwardedByClientIP = false
	options.unserved = &unserved{}
	router.Use(begin(options), watch, recoverPanics)
	if options.CORS != nil {
		router.Use(options.CORS.allow)
	}
	router.Use(refuseDoubleSlash)
	router.NoRoute(noRoute)
	router.NoMethod(noMethod)
	return router
}

// addRoute adds a handler; one of GET serves HEAD too. The server leaves the body out.
func addRoute(router gin.IRouter, method, path string, handle gin.HandlerFunc) {
	router.Handle(method, path, handle)
	if method == http.MethodGet {
		router.HEAD(path, handle)
	}
}

// AddRoutes adds routes outside any OpenAPI document, by method and path; those of GET serve HEAD too.
func AddRoutes(router gin.IRouter, routes map[string]gin.HandlerFunc) {
	for at, handle := range routes {
		method, path, _ := strings.Cut(at, " ")
		addRoute(router, method, path, handle)
	}
}

// refuseDoubleSlash keeps an empty part of a path from being taken for an id.
func refuseDoubleSlash(c *gin.Context) {
	if strings.Contains(c.Request.URL.EscapedPath(), "//") {
		noRoute(c)
	}
}

func noRoute(c *gin.Context) {
	Fail(c, fault.New(fault.NotFound, "There is no such path."))
}

// noMethod answers for a path that knows other methods only. Gin has listed them in Allow.
func noMethod(c *gin.Context) {
	c.Header("Allow", c.Writer.Header().Get("Allow")+", "+http.MethodOptions)
	if c.Request.Method == http.MethodOptions {
		c.Status(NoContent)
		return
	}
	Fail(c, fault.New(fault.MethodNotAllowed, "The path does not know the method %s.", c.Request.Method))
}
