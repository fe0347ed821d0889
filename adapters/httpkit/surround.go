package httpkit

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
)

// logAccess writes one line per request when it is answered. Those of the probes count as noise.
func logAccess(c *gin.Context) {
	began := time.Now()
	defer func() {
		level := slog.LevelInfo
		if path := c.FullPath(); path == HealthPath || path == ReadyPath {
			level = slog.LevelDebug
		}
		attrs := append(attributes(c),
			slog.Int("status", c.Writer.Status()),
			slog.Int64("ms", time.Since(began).Milliseconds()),
		)
		of(c).options.Log.LogAttrs(c.Request.Context(), level, "request", attrs...)
	}()
	c.Next()
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
		err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		if c.Writer.Written() {
			logFailure(c, slog.LevelError, "a request failed after part of its answer was sent", err)
			panic(http.ErrAbortHandler)
		}
		Fail(c, err)
	}()
	c.Next()
}
