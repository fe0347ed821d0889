package programs

import (
	"bytes"
	"io"
	"slices"
)

// hider replaces texts in what is written through it, also those that come in pieces. Where several begin, the longest
// counts. It keeps back what may be the beginning of one, so less than the longest of them.
type hider struct {
	to     io.Writer
	texts  [][]byte // the longest first
	shown  map[string]string
	begins [256]bool // the first bytes of texts
	held   []byte
	out    []byte
}

func newHider(to io.Writer, hidden map[string]string) *hider {
	h := &hider{to: to, shown: hidden}
	for text := range hidden {
		if text != "" {
			h.texts = append(h.texts, []byte(text))
			h.begins[text[0]] = true
		}
	}
	slices.SortFunc(h.texts, func(a, b []byte) int { return len(b) - len(a) })
	return h
}

// Write passes on what cannot be part of a text that goes on.
func (h *hider) Write(written []byte) (int, error) {
	if len(h.texts) == 0 {
		return h.to.Write(written)
	}
	h.held = append(h.held, written...)
	return len(written), h.pass(false)
}

// flush passes on the rest.
func (h *hider) flush() error { return h.pass(true) }

func (h *hider) pass(last bool) error {
	h.out = h.out[:0]
	at, from := 0, 0 // what is before from was copied
	for at < len(h.held) {
		if !h.begins[h.held[at]] {
			at++
			continue
		}
		found, partial := h.match(h.held[at:])
		if partial && !last {
			break
		}
		if found == nil {
			at++
			continue
		}
		h.out = append(append(h.out, h.held[from:at]...), h.shown[string(found)]...)
		at += len(found)
		from = at
	}
	h.out = append(h.out, h.held[from:at]...)
	h.held = append(h.held[:0], h.held[at:]...)
	if len(h.out) == 0 {
		return nil
	}
	_, err := h.to.Write(h.out)
	return err
}

// match returns the longest text that rest begins with, nil if there is none, and whether a longer one may be coming.
func (h *hider) match(rest []byte) (found []byte, partial bool) {
	for _, text := range h.texts {
		switch {
		case bytes.HasPrefix(rest, text):
			return text, partial
		case bytes.HasPrefix(text, rest):
			partial = true
		}
	}
	return nil, partial
}
