package rest

import (
	"context"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
)

// system answers about the service itself.
type system struct {
	ready    func(context.Context) error
	document gin.HandlerFunc
}

// Health answers GET /healthz.
func (s system) Health(c *gin.Context) { httpkit.Health(c) }

// Ready answers GET /readyz.
func (s system) Ready(c *gin.Context) { httpkit.Ready(c, s.ready) }

// Openapi answers GET /openapi.json.
func (s system) Openapi(c *gin.Context) { s.document(c) }
