// Package redact hides texts, such as the values of secrets, in what is written: as they are, and as programs like to encode them.
package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// Least is the length in bytes from which a text is hidden in its encoded forms, and from which secrets are hidden at all: what is
// shorter is found everywhere.
const Least = 4

// Hidden are texts to hide. It is not changed once it is made. The zero Hidden hides nothing.
type Hidden struct {
	patterns []*pattern
	begins   *[256][]*pattern // by the first byte of what they match
}

// New returns what hides each key of texts by its value. Texts of at least Least bytes are hidden too where they stand in JSON, in
// a URL, or in base64, of either alphabet, at any place of what was encoded, in lines or not.
func New(texts map[string]string) Hidden {
	var h Hidden
	for text, shown := range texts {
		h.add(text, shown)
	}
	if len(h.patterns) == 0 {
		return Hidden{}
	}
	h.begins = &[256][]*pattern{}
	for _, p := range h.patterns {
		for _, first := range p.firsts() {
			if !slices.Contains(h.begins[first], p) {
				h.begins[first] = append(h.begins[first], p)
			}
		}
	}
	return h
}

func (h *Hidden) add(text, shown string) {
	if text == "" {
		return
	}
	one := func(form form, text string, least int) {
		h.patterns = append(h.patterns, &pattern{form: form, text: text, least: least, shown: []byte(shown)})
	}
	one(exact, text, len(text))
	if len(text) < Least {
		return
	}
	one(percent, text, len(text))
	one(escaped, text, len(text))
	for _, code := range based(text) {
		one(wrapped, code.text, code.least)
	}
}

// Text hides what a text holds.
func (h Hidden) Text(text string) string {
	if h.begins == nil {
		return text
	}
	return string(h.Bytes([]byte(text)))
}

// Bytes is Text for bytes.
func (h Hidden) Bytes(text []byte) []byte {
	if h.begins == nil || text == nil {
		return text
	}
	s := h.Stream()
	return append(slices.Clone(s.Next(text)), s.Rest()...)
}

// JSON is Bytes for JSON, which it stays: when a number, say, would be torn, all of it becomes a JSON text.
func (h Hidden) JSON(encoded []byte) []byte {
	shown := h.Bytes(encoded)
	if json.Valid(shown) || !json.Valid(encoded) {
		return shown
	}
	text, err := json.Marshal(strings.ToValidUTF8(string(shown), "\uFFFD"))
	if err != nil {
		panic(err) // text alone cannot fail
	}
	return text
}

// Stream hides texts in what comes in pieces.
type Stream struct {
	hidden Hidden
	held   []byte
	out    []byte
}

// Stream begins to hide in what comes in pieces.
func (h Hidden) Stream() *Stream { return &Stream{hidden: h} }

// Next takes the next piece and returns what can be shown by now, until the next call. It keeps back what may be the beginning of a
// text, which is no more than the longest form of one.
func (s *Stream) Next(written []byte) []byte {
	if s.hidden.begins == nil {
		return written
	}
	s.held = append(s.held, written...)
	return s.pass(false)
}

// Rest returns what was kept back.
func (s *Stream) Rest() []byte { return s.pass(true) }

func (s *Stream) pass(last bool) []byte {
	s.out = s.out[:0]
	at, from := 0, 0 // what is before from was copied
	for at < len(s.held) {
		among := s.hidden.begins[s.held[at]]
		if len(among) == 0 {
			at++
			continue
		}
		found, length, mayGrow := longest(among, s.held[at:])
		if mayGrow && !last {
			break
		}
		if found == nil {
			at++
			continue
		}
		s.out = append(append(s.out, s.held[from:at]...), found.shown...)
		at += length
		from = at
	}
	s.out = append(s.out, s.held[from:at]...)
	s.held = append(s.held[:0], s.held[at:]...)
	return s.out
}

// longest returns the pattern that matches most of the beginning of rest, nil if none does, and whether more of it may be coming.
func longest(among []*pattern, rest []byte) (found *pattern, length int, mayGrow bool) {
	for _, p := range among {
		n, grows := p.match(rest)
		mayGrow = mayGrow || grows
		if n > length {
			found, length = p, n
		}
	}
	return found, length, mayGrow
}
