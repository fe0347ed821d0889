package httpkit

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/retention"
)

// Paths of the probes, which are on every listener, and of the page for scrapers, which is on one.
const (
	HealthPath  = "/healthz"
	ReadyPath   = "/readyz"
	MetricsPath = "/metrics"
)

// Open makes a handler of the probes and of pages, by their paths, that anybody may see: a listener without an API. Pages
// answer GET and HEAD.
func Open(options Options, ready func(context.Context) error, pages map[string]http.Handler) http.Handler {
	router := New(options)
	addRoute(router, http.MethodGet, HealthPath, Health)
	addRoute(router, http.MethodGet, ReadyPath, func(c *gin.Context) { Ready(c, ready) })
	AddPages(router, pages)
	return Compressed(router)
}

// AddPages adds pages that anybody may see, by their paths. They answer GET and HEAD.
func AddPages(router gin.IRouter, pages map[string]http.Handler) {
	for path, page := range pages {
		addRoute(router, http.MethodGet, path, gin.WrapH(page))
	}
}

var (
	ok      = event.Fields{event.F("status", "ok")}
	diskLow = event.Fields{event.F("status", "disk_low")}
)

// Health answers that the process is up.
func Health(c *gin.Context) { sendJSON(c, OK, ok) }

// probeLimit is how long a probe waits for the store. An orchestrator wants a quick answer, even a negative one.
const probeLimit = 3 * time.Second

// Ready answers that requests can be served, or with fault.Unavailable when ready fails or takes too long. Of a
// disk that is nearly full it says just that.
func Ready(c *gin.Context, ready func(context.Context) error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), probeLimit)
	defer cancel()
	err := ready(ctx)
	if errors.Is(err, retention.ErrDiskLow) {
		refusal := fault.Of(err)
		c.Header("Retry-After", seconds(refusal.RetryAfter))
		sendJSON(c, http.StatusServiceUnavailable, diskLow)
		return
	}
	if err != nil {
		Fail(c, fault.New(fault.Unavailable,
			"The store does not answer, cannot be written to, or does not have the schema that this version needs.").Because(err))
		return
	}
	sendJSON(c, OK, ok)
}
