package httpkit

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/gin-gonic/gin"

	"holdco/domain/instant"
)

// Answer is a success.
type Answer struct {
	Status   int    // OK when zero
	Data     any    // the resource, or a list of them (not nil)
	Page     *Page  // of a list
	ETag     string // empty: none
	Location string // of a new resource
}

// Page tells how a list goes on.
type Page struct {
	Size   int     `json:"size"`
	Cursor *string `json:"cursor"` // nil on the last page
}

// PageOf makes a Page; cursor is empty on the last page.
func PageOf(size int, cursor string) *Page {
	if cursor == "" {
		return &Page{Size: size}
	}
	return &Page{Size: size, Cursor: &cursor}
}

// Write answers with a success, or with 304 when the client has just that (If-None-Match).
func Write(c *gin.Context, answer Answer) {
	if answer.ETag != "" {
		c.Header("ETag", answer.ETag)
	}
	if answer.Location != "" {
		c.Header("Location", answer.Location)
	}
	if hasAlready(c, answer.ETag) {
		c.Header("Cache-Control", "no-store")
		c.Status(notModified)
		return
	}
	if answer.Status == 0 {
		answer.Status = OK
	}
	send(c, answer.Status, envelope{Data: answer.Data, Meta: &meta{Page: answer.Page}})
}

// envelope is the body of every answer.
type envelope struct {
	Data  any      `json:"data,omitempty"`
	Error *failure `json:"error,omitempty"`
	Meta  *meta    `json:"meta,omitempty"` // nil: the API is bare
}

type meta struct {
	RequestID string `json:"requestId"`
	Timestamp string `json:"timestamp"`
	Page      *Page  `json:"page,omitempty"`
}

func send(c *gin.Context, status int, body envelope) {
	if request := of(c); !request.options.Bare {
		if body.Meta == nil {
			body.Meta = &meta{}
		}
		body.Meta.RequestID = request.id
		body.Meta.Timestamp = instant.Format(request.options.Clock.Now())
	}
	sendJSON(c, status, body)
}

const jsonAnswer = "application/json; charset=utf-8"

// sendJSON answers with body as it is. Nobody keeps such an answer.
func sendJSON(c *gin.Context, status int, body any) {
	text := encode(body)
	c.Header("Content-Type", jsonAnswer)
	c.Header("Content-Length", strconv.Itoa(len(text)))
	c.Header("Cache-Control", "no-store")
	c.Status(status)
	_, _ = c.Writer.Write(text) // fails when the client is gone, or asked for the head alone
}

// encode spells what this program made, for people too: without the escapes that JSON within HTML would need.
func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return text.Bytes()
}
