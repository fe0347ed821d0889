package importer

import (
	"errors"
	"io"
)

// elements takes a JSON list apart. What is within an element is looked at no more than is needed to find its end, so that
// a broken element is at fault alone.
type elements struct {
	*source
	begun, ended bool
	items        int64 // that were read
	text         []byte
}

var (
	errNoList    = errors.New("the file must be a JSON list of objects; one object per line is the format ndjson")
	errTruncated = errors.New("the file is truncated: its JSON list has no end")
	errTrailing  = errors.New("the file continues after its JSON list")
)

func (e *elements) next() (piece, error) {
	first := !e.begun
	if first {
		e.begun, e.line = true, 1
		if b, err := e.skipSpace(); errors.Is(err, io.EOF) || err == nil && b != '[' {
			return piece{}, errNoList
		} else if err != nil {
			return piece{}, err
		}
	}
	if e.ended {
		return piece{}, e.nothingAfter()
	}
	b, err := e.skipSpace()
	number := e.line
	if err == nil {
		err = e.element(b)
	}
	switch {
	case errors.Is(err, io.EOF):
		return piece{}, errTruncated
	case err != nil:
		return piece{}, err
	case first && e.ended && len(e.text) == 0:
		return piece{}, e.nothingAfter()
	}
	e.items++
	found := e.piece(number, e.text)
	found.item = e.items
	return found, nil
}

// element reads from a byte up to the comma after the element, or to the end of the list.
func (e *elements) element(b byte) (err error) {
	e.text = e.text[:0]
	depth, quoted, escaped := 0, false, false
	for ; err == nil; b, err = e.byte() {
		switch {
		case quoted:
			quoted, escaped = escaped || b != '"', !escaped && b == '\\'
		case b == '"':
			quoted = true
		case b == '{', b == '[':
			depth++
		case depth > 0 && (b == '}' || b == ']'):
			depth--
		case depth == 0 && (b == ',' || b == ']'):
			e.ended = b == ']'
			return nil
		}
		if len(e.text) <= MostLine {
			e.text = append(e.text, b)
		}
	}
	return err
}

// nothingAfter returns io.EOF when the file ends with its list.
func (e *elements) nothingAfter() error {
	if _, err := e.skipSpace(); err != nil {
		return err
	}
	return errTrailing
}

// skipSpace returns the next byte that is no space.
func (e *elements) skipSpace() (byte, error) {
	for {
		b, err := e.byte()
		if err != nil || b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, err
		}
	}
}

func (e *elements) byte() (byte, error) {
	b, err := e.from.ReadByte()
	if err == nil {
		e.offset++
	}
	if b == '\n' {
		e.line++
	}
	return b, err
}
