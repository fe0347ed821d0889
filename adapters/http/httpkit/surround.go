package httpkit

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
)

// Exchange is a request that was answered.
type Exchange struct {
	ID     string // of the request
	Method string // as the client sent it
	Route  string // the pattern that the path matched, such as /v1/companies/:id; empty: no route has the path and the method
	Status int
	Took   time.Duration
}

// watch reports each request after it was answered.
func watch(c *gin.Context) {
	began := time.Now()
	defer func() {
		e := Exchange{of(c).id, c.Request.Method, c.FullPath(), c.Writer.Status(), time.Since(began)}
		logAccess(c, e)
		for _, report := range of(c).options.Watch {
			report(c.Request.Context(), e)
		}
	}()
	c.Next()
}

// logAccess writes one line per request. Those of the probes and of scrapes count as noise.
func logAccess(c *gin.Context, e Exchange) {
	level := slog.LevelInfo
	if e.Route == HealthPath || e.Route == ReadyPath || e.Route == MetricsPath {
		level = slog.LevelDebug
	}
	attrs := append(attributes(c), slog.Int("status", e.Status), slog.Int64("ms", e.Took.Milliseconds()))
	of(c).options.Log.LogAttrs(c.Request.Context(), level, "request", attrs...)
}

// recoverPanics answers a panic as fault.Internal. When part of an answer is out already, it breaks the connection, so
// that the client does not take the part for the whole.
func recoverPanics(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if cause == http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http does
			panic(cause)
		}
		err := fault.OfPanic(cause)
		if c.Writer.Written() {
			logFailure(c, slog.LevelError, "a request failed after part of its answer was sent", err)
			panic(http.ErrAbortHandler)
		}
		Fail(c, err)
	}()
	c.Next()
}
