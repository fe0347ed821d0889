package partner

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/fault"
	"holdco/domain/instant"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

// errBeginAnew refuses a request during which what its key may see has changed, as the next one with its cursor would be.
var errBeginAnew = fault.New(fault.InvalidCursor, "What the key may see has changed since the request came; drop your copy, and start "+
	"again without the cursor.")

// changes answers GET /api/external/leads/changes, with a page of the feed or with a stream.
func (h leads) changes(c *gin.Context) {
	c.Writer.Header().Add("Vary", "Accept")
	p := &parameters{Query: httpkit.QueryOf(c)}
	streams := preferred(c, pageType, streamType) == streamType
	if streams {
		p.without("does not go with a stream", "per_page")
	}
	query := lead.FeedQuery{Filter: filterOf(p), Size: int(p.number("per_page", usualSize))}
	shape := shapeOf(c, p)
	query.Filter.Since, query.Filter.View = time.Time{}, shape.View        // since says where it begins
	bound := "changes" + query.Filter.Text() + httpkit.PartnerOf(c).Sees() // a key that sees something else begins anew
	query.After = h.feedPosition(c, p, bound)
	wait := time.Duration(p.number("wait", 0)) * time.Second
	if p.err != nil {
		httpkit.Fail(c, p.err)
		return
	}
	if c.Request.Method == http.MethodHead {
		if streams {
			httpkit.BeginStream(c, streamType, writeTimeout)
			return
		}
		h.changesHead(c, query.After)
		return
	}
	ctx, stop := h.stopping.Within(c.Request.Context())
	defer stop()
	buffer := h.borrow()
	defer h.giveBack(buffer)
	if streams {
		out := httpkit.BeginStream(c, streamType, writeTimeout)
		ctx, end := out.WhilePermitted(ctx, errBeginAnew)
		defer end() // End looks why the stream broke off
		out.End(h.portOf(c).StreamChanges(ctx, query, wait, func(found inbound.ChangesPage) error {
			text := (*buffer)[:0]
			for _, change := range found.Changes {
				text = append(appendChange(text, shape, change, found.Names), '\n')
			}
			text = append(text, `{"change":"checkpoint","next_cursor":"`+feedCursor(bound, found.Next)+"\"}\n"...)
			*buffer = text
			err := out.Write(text)
			if err == nil {
				h.sent(c, upserted(found.Changes))
			}
			return err
		}))
		return
	}
	httpkit.Wait(c, wait)
	ctx, end := httpkit.WhilePermitted(ctx, c, errBeginAnew)
	found, err := h.portOf(c).Changes(ctx, query, wait)
	err = httpkit.OrNotPermitted(ctx, err)
	end()
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	body := append(*buffer, `{"data":[`...)
	body = appendList(body, found.Changes, func(body []byte, change lead.FeedChange) []byte {
		return appendChange(body, shape, change, found.Names)
	})
	body = strconv.AppendInt(append(body, `],"pagination":{"per_page":`...), int64(query.Size), 10)
	body = strconv.AppendBool(append(body, `,"more":`...), found.More)
	body = append(body, `,"next_cursor":"`+feedCursor(bound, found.Next)+"\"}}\n"...)
	if r := (httpkit.Representation{ETag: httpkit.DigestTag(body)}); !httpkit.Spared(c, r) && httpkit.WriteJSON(c, r, body) {
		h.sent(c, upserted(found.Changes))
	}
	*buffer = body
}

// changesHead answers HEAD of a page of the feed, for which nothing is looked for but whether the feed goes on from the position. The tag
// is a digest of the page, so there is none.
func (h leads) changesHead(c *gin.Context, from lead.FeedPosition) {
	if from != (lead.FeedPosition{}) {
		if err := h.portOf(c).CanFollow(c.Request.Context(), from); err != nil {
			httpkit.Fail(c, err)
			return
		}
	}
	httpkit.WriteHead(c, httpkit.Representation{})
}

// upserted is how many leads are sent with changes.
func upserted(changes []lead.FeedChange) (leads int) {
	for _, change := range changes {
		if change.Kind == lead.Upserted {
			leads++
		}
	}
	return leads
}

// appendChange appends a change as a JSON object on one line.
func appendChange(to []byte, shape leadjson.Shape, change lead.FeedChange, names lead.Names) []byte {
	about := string(change.Lead)
	switch {
	case change.Industry != nil:
		about = string(change.Industry.ID)
	case change.Vertical != nil:
		about = string(change.Vertical.ID)
	}
	to = append(to, `{"id":"`+about+`","change":"`+string(change.Kind)+`"`...) // of letters that need no escapes
	switch {
	case change.Kind == lead.Upserted:
		to = shape.Append(append(to, `,"lead":`...), change.Exported, names)
	case change.Kind == lead.Gone:
		to = append(to, `,"at":"`+instant.Format(change.At)+`"`...)
	case change.Industry != nil:
		to = change.Industry.Fields().Append(append(to, `,"industry":`...))
	case change.Vertical != nil:
		to = change.Vertical.Fields().Append(append(to, `,"vertical":`...))
	}
	return append(to, '}')
}

// feedPosition reads where the feed is to begin.
func (h leads) feedPosition(c *gin.Context, p *parameters, bound string) (from lead.FeedPosition) {
	since := p.instant("since")
	if _, sent := p.Query["since"]; sent && p.err == nil {
		p.without("does not go with since", "cursor")
		if p.err == nil {
			from, p.err = h.portOf(c).ChangesSince(c.Request.Context(), since)
		}
		return from
	}
	if cursor, sent := p.Query["cursor"]; sent && p.err == nil {
		from, p.err = parseFeedCursor(bound, cursor)
	}
	return from
}

// feedStart stands in cursors for the place of a lead, which has a key and no id.
const feedStart = "lead"

// feedCursor spells a position. The numbers are short in base 36.
func feedCursor(bound string, at lead.FeedPosition) string {
	named := at.Place.ID
	if named == "" {
		named = feedStart
	}
	values := []string{3: instant.Format(at.SeenAt), 4: ""}
	for i, number := range numbersOf(&at) {
		values[i] = strconv.FormatInt(*number, 36)
	}
	return page.Cursor(bound, page.Position{ID: named, Values: values})
}

// numbersOf are the numbers of a position, by where they stand in a cursor.
func numbersOf(at *lead.FeedPosition) map[int]*int64 {
	return map[int]*int64{
		0: (*int64)(&at.Place.Revision), 1: &at.Place.Key, 2: (*int64)(&at.Fresh), 4: (*int64)(&at.Seen),
	}
}

func parseFeedCursor(bound, cursor string) (at lead.FeedPosition, err error) {
	position, err := page.ParseCursor(bound, cursor)
	if err != nil {
		return lead.FeedPosition{}, err
	}
	values := position.Values
	if len(values) == 4 {
		values = append(values, "0") // a former version did not say which revision was seen
	}
	if len(values) != 5 {
		return lead.FeedPosition{}, page.ErrForeign
	}
	for i, number := range numbersOf(&at) {
		if *number, err = strconv.ParseInt(values[i], 36, 64); err != nil || *number < 0 {
			return lead.FeedPosition{}, page.ErrForeign
		}
	}
	var ok bool
	if at.SeenAt, ok = instant.Parse(values[3]); !ok {
		return lead.FeedPosition{}, page.ErrForeign
	}
	if position.ID != feedStart {
		at.Place.ID = position.ID
	}
	return at, nil
}
