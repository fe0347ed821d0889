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
	caller, endsAt := httpkit.PartnerOf(c)
	writeData(c, caller.Own(int64(h.limit), endsAt).Append(nil), "")
}
