package programs

import (
	"io"

	"holdco/domain/redact"
)

// hider hides texts in what is written through it, also those that come in pieces.
type hider struct {
	to     io.Writer
	stream *redact.Stream
}

func newHider(to io.Writer, hidden redact.Hidden) *hider { return &hider{to, hidden.Stream()} }

// Write passes on what can be shown by now.
func (h *hider) Write(written []byte) (int, error) {
	h.pass(h.stream.Next(written))
	return len(written), nil
}

// flush passes on the rest.
func (h *hider) flush() { h.pass(h.stream.Rest()) }

func (h *hider) pass(shown []byte) {
	if len(shown) > 0 {
		_, _ = h.to.Write(shown) // neither a log nor what is kept of the output fails
	}
}
