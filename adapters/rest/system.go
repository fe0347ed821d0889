package rest

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/httpkit"
)

// system answers about the service itself.
type system struct {
	ready       func(context.Context) error
	document    []byte // the OpenAPI document in JSON
	documentTag string
}

// Health answers GET /healthz.
func (s system) Health(c *gin.Context) { httpkit.Health(c) }

// Ready answers GET /readyz.
func (s system) Ready(c *gin.Context) { httpkit.Ready(c, s.ready) }

// Openapi answers GET /openapi.json. Clients may keep the document and ask each time whether it is still the same.
func (s system) Openapi(c *gin.Context) {
	c.Header("Content-Type", "application/json; charset=utf-8")
	c.Header("Cache-Control", "no-cache")
	c.Header("ETag", s.documentTag)
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(s.document))
}
