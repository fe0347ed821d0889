package httpkit

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// Text is an answer in plain text, of which a client may ask for a part (Range).
type Text struct {
	Content []byte
	More    func() ([]byte, error) // what comes after it, until io.EOF; it may wait. nil: the content is all, and has parts
}

const plainText = "text/plain; charset=utf-8"

// portionTimeout is how long a client may take for one portion of a text that goes on.
const portionTimeout = time.Minute

func (t Text) write(c *gin.Context) {
	if t.More == nil {
		c.Header("Content-Type", plainText)
		c.Header("Cache-Control", "no-store")
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(t.Content))
		return
	}
	out := BeginStream(c, plainText, portionTimeout)
	if c.Request.Method == http.MethodHead {
		return
	}
	portion, err := t.Content, error(nil)
	for err == nil {
		if err = out.Write(portion); err == nil {
			portion, err = t.More()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	out.End(err)
}
