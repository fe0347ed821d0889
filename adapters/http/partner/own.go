package partner

import (
	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/ratelimit"
)

// own answers the operation on the partner who asks.
type own struct{ limit ratelimit.Limit }

// get answers GET /api/external/me.
func (h own) get(c *gin.Context) {
	writeData(c, httpkit.PartnerOf(c).Own(int64(h.limit), httpkit.KeyEndsAt(c)).Append(nil), "")
}
