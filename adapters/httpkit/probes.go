package httpkit

import (
	"context"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
)

// Paths of the probes, on every listener.
const (
	HealthPath = "/healthz"
	ReadyPath  = "/readyz"
)

type probe struct {
	Status string `json:"status"`
}

// Health answers that the process is up.
func Health(c *gin.Context) { sendJSON(c, OK, probe{"ok"}) }

// Ready answers that requests can be served, or with fault.Unavailable when ready fails.
func Ready(c *gin.Context, ready func(context.Context) error) {
	if err := ready(c.Request.Context()); err != nil {
		Fail(c, fault.New(fault.Unavailable, "The store does not answer, or has not the schema that this version needs.").Because(err))
		return
	}
	sendJSON(c, OK, probe{"ok"})
}
