package partner

import (
	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
)

// taxonomy answers the operation on the taxonomy.
type taxonomy struct{ ports inbound.Exports }

// aDay lets clients keep an answer for a day.
const aDay = "private, max-age=86400"

// get answers GET /api/external/taxonomy.
func (h taxonomy) get(c *gin.Context) {
	active, err := h.ports.Of(httpkit.PartnerOf(c)).Taxonomy(c.Request.Context(), viewOf(c))
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	writeData(c, active.Fields().Append(nil), aDay)
}

// writeData answers with one resource, whose entity tag is a digest of its content, and reports whether it was written.
func writeData(c *gin.Context, resource []byte, keep string) (written bool) {
	body := append(append([]byte(`{"data":`), resource...), '}', '\n')
	r := httpkit.Representation{ETag: httpkit.DigestTag(body), Keep: keep}
	return !httpkit.Spared(c, r) && httpkit.WriteJSON(c, r, body)
}
