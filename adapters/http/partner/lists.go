package partner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
	"holdco/domain/instant"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// lists answers with pages.
type lists struct {
	ports inbound.Exports
	clock outbound.Clock
	auth  inbound.PartnerAuthenticator
	seal  string // of the form in which this version of the program answers
	*buffers
}

// portOf is what the key of a request reads.
func (h lists) portOf(c *gin.Context) inbound.Export { return h.ports.Of(httpkit.PartnerOf(c)) }

// sent notes how many leads a partner got.
func (h lists) sent(c *gin.Context, leads int) {
	if leads > 0 {
		h.auth.Used(httpkit.PartnerOf(c).ID, 0, int64(leads))
	}
}

// usualSize is the size of a page unless asked otherwise.
const usualSize = 25

// paging is which page a client asks for.
type paging struct {
	number int64 // 0: under a cursor
	size   int64
	after  page.Position
	at     time.Time // of after
	bound  string    // the list and what is asked of it, to which cursors are bound

	pruned bool // retention removes rows of the list
}

// pagingOf reads which page is asked for. Cursors are bound to the list and what is asked of it, however that was spelled.
func pagingOf(p *parameters, bound string) paging {
	asked := paging{size: p.number("per_page", usualSize), bound: bound}
	cursor, under := p.Query["cursor"]
	if !under {
		asked.number = p.number("page", 1)
		return asked
	}
	p.without("does not go with cursor", "page")
	if p.err == nil {
		asked.after, asked.at, p.err = parseCursor(bound, cursor)
	}
	return asked
}

func parseCursor(bound, cursor string) (page.Position, time.Time, error) {
	position, err := page.ParseCursor(bound, cursor)
	if err != nil {
		return page.Position{}, time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, strings.Join(position.Values, ""))
	if err != nil {
		return page.Position{}, time.Time{}, fault.New(fault.InvalidCursor,
			"The cursor names no position in this list; start again without it.")
	}
	return position, at, nil
}

// errLost refuses a cursor from after the backup that the store was restored from.
var errLost = fault.New(fault.InvalidCursor, "The cursor names a position that is gone, because an older state was restored; start again "+
	"without it.")

// skip is how many rows come before the page. Beyond all bounds there is nothing anyway.
func (p paging) skip() int64 {
	before := max(0, p.number-1)
	if before > math.MaxInt64/p.size {
		return math.MaxInt64
	}
	return before * p.size
}

// found is what was found for a page, but for its rows.
type found struct {
	state  lead.State
	total  int64
	more   bool
	lastAt time.Time // of the last row
	lastID string
	leads  int // how many of the rows are leads
}

// answer shows a page, for which fill appends the rows. When the client has the page already, or asks for the head alone,
// nothing is looked for but whether something has changed.
func (h lists) answer(c *gin.Context, asked paging, fill func(ctx context.Context, rows []byte) (found, []byte, error)) {
	ctx, header := c.Request.Context(), c.Request.Header
	head := c.Request.Method == http.MethodHead
	if head || header.Get("If-None-Match") != "" || header.Get("If-Modified-Since") != "" {
		state, err := h.portOf(c).State(ctx)
		if err != nil {
			httpkit.Fail(c, err)
			return
		}
		if state.HasLost(asked.at) {
			httpkit.Fail(c, errLost)
			return
		}
		r := h.representation(c, asked, state)
		if httpkit.Spared(c, r) {
			return
		}
		if head {
			httpkit.WriteHead(c, r)
			return
		}
	}
	buffer := h.borrow()
	defer h.giveBack(buffer)
	result, body, err := fill(ctx, append(*buffer, `{"data":[`...))
	if err == nil && result.state.HasLost(asked.at) {
		err = errLost
	}
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	body = append(body, `],"pagination":`...)
	body = append(asked.appendPagination(body, result), '}', '\n')
	if httpkit.WriteJSON(c, h.representation(c, asked, result.state), body) {
		h.sent(c, result.leads)
	}
	*buffer = body
}

// appendList appends the elements of a JSON list.
func appendList[T any](to []byte, all []T, element func(to []byte, one T) []byte) []byte {
	for i, one := range all {
		if i > 0 {
			to = append(to, ',')
		}
		to = element(to, one)
	}
	return to
}

func (p paging) appendPagination(to []byte, result found) []byte {
	to = append(to, `{"page":`...)
	if p.number == 0 {
		to = append(to, "null"...)
	} else {
		to = strconv.AppendInt(to, p.number, 10)
	}
	to = append(to, `,"per_page":`...)
	to = strconv.AppendInt(to, p.size, 10)
	to = append(to, `,"total":`...)
	to = strconv.AppendInt(to, result.total, 10)
	to = append(to, `,"total_pages":`...)
	to = strconv.AppendInt(to, (result.total+p.size-1)/p.size, 10)
	to = append(to, `,"next_cursor":`...)
	if !result.more {
		return append(to, "null}"...)
	}
	next := page.Position{ID: result.lastID, Values: []string{instant.Format(result.lastAt)}}
	return append(to, `"`+page.Cursor(p.bound, next)+`"}`...) // of letters that need no escapes
}

// representation makes the validators of a page from the state of the export and from what was asked. Last-Modified
// is set only when it is exact: not before the second of the last change is over, because another change could fall into it. Retention
// moves what is pruned alone, and no instant tells of that.
func (h lists) representation(c *gin.Context, asked paging, state lead.State) httpkit.Representation {
	of := []string{
		h.seal, httpkit.PartnerOf(c).Sees(),
		c.Request.URL.Path, c.Request.URL.RawQuery, strconv.FormatInt(int64(state.Revision), 10), instant.Format(state.ChangedAt),
	}
	if asked.pruned {
		of = append(of, fmt.Sprint(state.Pruned.Revision, state.Pruned.Key))
	}
	sum := sha256.Sum256([]byte(strings.Join(of, "\n")))
	r := httpkit.Representation{ETag: `"` + hex.EncodeToString(sum[:16]) + `"`}
	if asked.pruned || httpkit.PartnerOf(c).Sees() != "" {
		return r // when it was narrowed last is not known, so no instant says that the answer is the same
	}
	if changed := state.ChangedAt.Truncate(time.Second); !changed.IsZero() && h.clock.Now().Truncate(time.Second).After(changed) {
		r.Modified = changed
	}
	return r
}
