package httpkit

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
)

// CORS says which pages of other origins may use an API from within a browser, and what of it.
type CORS struct {
	// Allows reports whether pages of an origin, spelled as browsers send it, may use the API.
	Allows func(ctx context.Context, origin string) (bool, error)

	Methods []string
	Headers []string // that requests may carry
	Exposed []string // headers of answers that pages may read, beside those that they always may
}

// preflightAge is for how many seconds browsers need not ask again whether a page may.
const preflightAge = "600"

const allowOrigin = "Access-Control-Allow-Origin"

// allow sets the headers that let pages of other origins use the API. It answers nothing: what a browser asks before the
// request of a page is OPTIONS like any other, and without these headers the browser refuses the page.
func (s CORS) allow(c *gin.Context) {
	header := c.Writer.Header()
	header.Add("Vary", "Origin")
	origin := c.GetHeader("Origin")
	if origin == "" {
		return
	}
	allowed, err := s.Allows(c.Request.Context(), origin)
	if err != nil {
		logFailure(c, slog.LevelWarn, "the origin of a page could not be checked", err)
	}
	if err != nil || !allowed {
		return
	}
	header.Set(allowOrigin, origin)
	header.Set("Access-Control-Expose-Headers", strings.Join(s.Exposed, ", "))
	if c.Request.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", strings.Join(s.Methods, ", "))
		header.Set("Access-Control-Allow-Headers", strings.Join(s.Headers, ", "))
		header.Set("Access-Control-Max-Age", preflightAge)
	}
}

// checkOrigin refuses pages of origins that are not allowed with the credential that they use. They cannot read why.
func checkOrigin(c *gin.Context, allows func(origin string) bool, why string) error {
	sent := c.Request.Header.Values("Origin")
	if len(sent) == 0 || len(sent) == 1 && allows(sent[0]) {
		return nil
	}
	c.Writer.Header().Del(allowOrigin)
	return fault.New(fault.OriginNotAllowed, "%s", why)
}
