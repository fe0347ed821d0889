package httpkit

import (
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/event"
	"holdco/domain/instant"
)

// Answer is a success.
type Answer struct {
	Status     int    // OK when zero; an answer with NoContent has no body
	Data       any    // event.Fields, a list of these, or anything else that can be JSON
	Text       *Text  // plain text instead of JSON; nil: none
	Feed       *Feed  // a stream instead of JSON; nil: none
	Page       *Page  // of a list
	ETag       string // empty: none
	Location   string // of a new resource
	IsReplayed bool   // it was kept from an earlier request, and nothing happened now

	GeneratedAt time.Time // when Data was so, if it may be somewhat old; else zero
}

// At makes a the answer to the creation of a resource that is now at a path.
func (a Answer) At(path string) Answer {
	a.Status, a.Location = Created, path
	return a
}

// Page is where a list continues.
type Page struct {
	Size   int
	Cursor string // empty on the last page
}

// Write answers with a success, or with 304 when the client has just that (If-None-Match).
func Write(c *gin.Context, answer Answer) {
	if answer.ETag != "" {
		c.Header("ETag", answer.ETag)
	}
	if answer.Location != "" {
		c.Header("Location", answer.Location)
	}
	if answer.IsReplayed {
		c.Header(replayedHeader, "true")
	}
	if hasAlready(c, answer.ETag) {
		answer.Status = notModified
	}
	if answer.Text != nil {
		answer.Text.write(c)
		return
	}
	if answer.Feed != nil {
		answer.Feed.write(c)
		return
	}
	switch answer.Status {
	case NoContent, notModified:
		c.Header("Cache-Control", "no-store")
		c.Status(answer.Status)
		return
	case 0:
		answer.Status = OK
	}
	send(c, answer.Status, event.F("data", answer.Data), answer)
}

// send answers with the envelope that all answers have: the data or the error, and meta.
func send(c *gin.Context, status int, body event.Field, answer Answer) {
	envelope := append(make(event.Fields, 0, 2), body)
	if request := of(c); !request.options.Bare {
		meta := append(make(event.Fields, 0, 3),
			event.F("requestId", request.id), event.F("timestamp", instant.Format(request.options.Clock.Now())))
		if answer.Page != nil {
			meta = append(meta, event.F("page", answer.Page.fields()))
		}
		if !answer.GeneratedAt.IsZero() {
			meta = append(meta, event.F("generatedAt", instant.Format(answer.GeneratedAt)))
		}
		envelope = append(envelope, event.F("meta", meta))
	}
	sendJSON(c, status, envelope)
}

func (p Page) fields() event.Fields {
	var cursor *string
	if p.Cursor != "" {
		cursor = &p.Cursor
	}
	return event.Fields{event.F("size", p.Size), event.F("cursor", cursor)}
}

const jsonAnswer = "application/json; charset=utf-8"

// sendJSON answers with body as it is. Nobody keeps such an answer.
func sendJSON(c *gin.Context, status int, body event.Fields) {
	buffer := buffers.Get().(*[]byte)
	text := append(body.Append((*buffer)[:0]), '\n')
	c.Header("Content-Type", jsonAnswer)
	c.Header("Content-Length", strconv.Itoa(len(text)))
	c.Header("Cache-Control", "no-store")
	c.Status(status)
	_, _ = c.Writer.Write(text) // fails when the client is gone, or asked for the head alone
	if *buffer = text; cap(text) <= largestBuffer {
		buffers.Put(buffer)
	}
}

// buffers are what answers are written in before they are sent.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// largestBuffer keeps one large answer from holding its memory for good.
const largestBuffer = 1 << 18
