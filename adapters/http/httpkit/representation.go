package httpkit

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

// Representation has the validators and the cache policy of an answer that a handler encodes itself.
type Representation struct {
	ETag     string    // strong
	Modified time.Time // zero: no Last-Modified
	Keep     string    // Cache-Control; empty: no-store
}

// Spared answers with 304 when the client has just this already, and reports whether it did.
func Spared(c *gin.Context, r Representation) bool {
	if !hasAlready(c, r.ETag) && !r.isUnmodified(c) {
		return false
	}
	r.announce(c)
	c.Status(notModified)
	return true
}

// WriteJSON answers with a body that is spelled already, and reports whether it was written: not when the client is gone, or asked for
// the head alone.
func WriteJSON(c *gin.Context, r Representation, body []byte) (written bool) {
	WriteHead(c, r)
	c.Header("Content-Length", strconv.Itoa(len(body)))
	_, err := c.Writer.Write(body)
	return err == nil && c.Request.Method != http.MethodHead
}

// WriteHead answers HEAD as WriteJSON would, before anybody has spelled the body. A tag that is not known then is left out.
func WriteHead(c *gin.Context, r Representation) {
	r.announce(c)
	c.Header("Content-Type", jsonAnswer)
	c.Status(OK)
}

func (r Representation) announce(c *gin.Context) {
	if r.ETag != "" {
		c.Header("ETag", r.ETag)
	}
	if !r.Modified.IsZero() {
		c.Header("Last-Modified", r.Modified.UTC().Format(http.TimeFormat))
	}
	keep := r.Keep
	if keep == "" {
		keep = "no-store"
	}
	c.Header("Cache-Control", keep)
	if r.Keep != "" {
		c.Writer.Header().Add("Vary", "Authorization") // who has another key may be shown something else
	}
}

// isUnmodified is for clients that send no entity tag (RFC 9110, section 13.1.3).
func (r Representation) isUnmodified(c *gin.Context) bool {
	if r.Modified.IsZero() || c.GetHeader("If-None-Match") != "" {
		return false
	}
	since, err := http.ParseTime(c.GetHeader("If-Modified-Since"))
	return err == nil && !r.Modified.Truncate(time.Second).After(since)
}
