package httpkit

import (
	"context"
	"time"

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

// probeLimit is how long a probe waits for the store. Who asks wants an answer soon, whatever it is.
const probeLimit = 3 * time.Second

// Ready answers that requests can be served, or with fault.Unavailable when ready fails or takes too long.
func Ready(c *gin.Context, ready func(context.Context) error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), probeLimit)
	defer cancel()
	if err := ready(ctx); err != nil {
		Fail(c, fault.New(fault.Unavailable, "The store does not answer, or has not the schema that this version needs.").Because(err))
		return
	}
	sendJSON(c, OK, probe{"ok"})
}
