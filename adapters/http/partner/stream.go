package partner

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/leads/leadcsv"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// The media types of answers.
const (
	pageType   = "application/json"
	streamType = "application/x-ndjson"
	tableType  = "text/csv"
)

// forms are the values of the parameter format.
var forms = map[string]string{"json": pageType, "ndjson": streamType, "csv": tableType}

// formOf returns the media type that a client wants leads in: format says it, or the header Accept.
func formOf(c *gin.Context, p *parameters) string {
	if asked, sent := p.Query["format"]; sent {
		return forms[asked]
	}
	return preferred(c, pageType, streamType, tableType)
}

// rows spell the leads of a stream.
type rows struct {
	mediaType string
	header    []byte // comes before the first lead of all
	append    func(to []byte, one lead.Exported, names lead.Names) []byte
}

func rowsOf(form string, shape leadjson.Shape) rows {
	if form == tableType {
		table := leadcsv.New(shape)
		return rows{tableType + "; charset=utf-8", table.AppendHeader(nil), table.Append}
	}
	return rows{mediaType: streamType, append: func(to []byte, one lead.Exported, names lead.Names) []byte {
		return append(shape.Append(to, one, names), '\n')
	}}
}

// writeTimeout is how long a client may take for one portion of a stream. Without it, a client that reads
// nothing would keep it open for ever.
const writeTimeout = time.Minute

// errSeesOther refuses a stream of which nothing was sent yet.
var errSeesOther = fault.New(fault.Unavailable, "What the key may see has changed since the request came; try again.")

// stream answers with all leads that the filter matches, one per line. What continues a stream goes on with the next line, without a
// header.
func (h leads) stream(c *gin.Context, p *parameters, filter lead.Filter, rows rows) {
	p.without("does not go with a stream", "page", "per_page", "cursor")
	after := h.resumeFrom(c, p, filter.View)
	if p.err != nil {
		httpkit.Fail(c, p.err)
		return
	}
	if c.Request.Method == http.MethodHead {
		httpkit.BeginStream(c, rows.mediaType, writeTimeout)
		return
	}
	ctx, stop := h.stopping.Within(c.Request.Context())
	defer stop()

	lines := h.borrow()
	defer h.giveBack(lines)
	out := httpkit.BeginStream(c, rows.mediaType, writeTimeout)
	ctx, end := out.WhilePermitted(ctx, errSeesOther)
	defer end() // End looks why the stream broke off
	header := rows.header
	if _, continues := p.Query["after"]; continues {
		header = nil
	}
	err := h.portOf(c).Stream(ctx, filter, after, func(leads []lead.Exported, names lead.Names) error {
		text := (*lines)[:0]
		text = append(text, header...)
		for _, one := range leads {
			text = rows.append(text, one, names)
		}
		*lines, header = text, nil
		err := out.Write(text)
		if err == nil {
			h.sent(c, len(leads))
		}
		return err
	})
	if err == nil && header != nil { // there are no leads
		err = out.Write(header)
	}
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
		p.refuse("after", "names no lead that your key sees, nor a removed one that it saw, as far as that is still known")
	case err != nil:
		p.err = err
	}
	return place
}

// preferred returns the media type that a client prefers: of those that there are and that it names, the one with the greatest weight,
// or the first of these. If it names none, it is the first that there is.
func preferred(c *gin.Context, offered ...string) string {
	best, most := offered[0], 0.0
	for part := range strings.SplitSeq(strings.Join(c.Request.Header.Values("Accept"), ","), ",") {
		mediaType, parameters, err := mime.ParseMediaType(part)
		if err != nil || !slices.Contains(offered, mediaType) {
			continue
		}
		weight := 1.0
		if sent, weighed := parameters["q"]; weighed {
			weight, _ = strconv.ParseFloat(sent, 64) // what is no number weighs nothing
		}
		if weight > most {
			best, most = mediaType, weight
		}
	}
	return best
}
