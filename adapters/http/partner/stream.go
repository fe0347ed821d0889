package partner

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

const (
	pageType   = "application/json"
	streamType = "application/x-ndjson"
)

// writeTimeout is how long a client may take for one portion of a stream. Without it, a client that reads
// nothing would keep it open for ever.
const writeTimeout = time.Minute

// stream answers with all leads that the filter matches, one per line.
func (h leads) stream(c *gin.Context, p *parameters, filter lead.Filter) {
	p.without("does not go with a stream", "page", "per_page", "cursor")
	after := h.resumeFrom(c, p, filter.View)
	if p.err != nil {
		httpkit.Fail(c, p.err)
		return
	}
	if c.Request.Method == http.MethodHead {
		httpkit.BeginStream(c, streamType, writeTimeout)
		return
	}
	ctx, stop := h.stopping.Within(c.Request.Context())
	defer stop()

	lines := h.borrow()
	defer h.giveBack(lines)
	out := httpkit.BeginStream(c, streamType, writeTimeout)
	ctx, end := out.WhilePermitted(ctx)
	err := h.portOf(c).Stream(ctx, filter, after, func(leads []lead.Exported, names lead.Names) error {
		text := (*lines)[:0]
		for _, one := range leads {
			text = append(leadjson.AppendFor(text, filter.View, one, names), '\n')
		}
		*lines = text
		err := out.Write(text)
		if err == nil {
			h.sent(c, len(leads))
		}
		return err
	})
	defer end() // End looks why the stream broke off
	out.End(err)
}

// resumeFrom is the place after the lead that the client received last.
func (h leads) resumeFrom(c *gin.Context, p *parameters, view lead.View) lead.Place {
	last := foreign[id.Lead](p, "after")
	if last == "" || p.err != nil {
		return lead.Place{}
	}
	place, err := h.portOf(c).ResumeFrom(c.Request.Context(), view, last)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		p.refuse("after", "names no lead that there ever was")
	case err != nil:
		p.err = err
	}
	return place
}

// wantsStream reports whether a client prefers lines over a page: of the two that it names, the one with the greatest
// weight, or the first of these.
func wantsStream(accept []string) bool {
	preferred, most := pageType, 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		mediaType, parameters, err := mime.ParseMediaType(part)
		if err != nil || mediaType != streamType && mediaType != pageType {
			continue
		}
		weight := 1.0
		if sent, weighed := parameters["q"]; weighed {
			weight, _ = strconv.ParseFloat(sent, 64) // what is no number weighs nothing
		}
		if weight > most {
			preferred, most = mediaType, weight
		}
	}
	return preferred == streamType
}
