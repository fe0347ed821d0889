package httpkit

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
)

// mostDepth is how deep a body can nest; the body itself is the first level.
const mostDepth = 32

// checkJSON refuses, with fault.InvalidJSON, whatever is not exactly one JSON object in UTF-8 without duplicate names,
// lone surrogates or too deep nesting (RFC 8259, and RFC 7493 where that is stricter). It reports whether the object is
// empty.
func checkJSON(text []byte) (empty bool, err error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text))
	if kind := decoder.PeekKind(); kind != '{' && kind != 0 {
		return false, fault.New(fault.InvalidJSON, "The body must be one JSON object.")
	}
	for tokens := 0; ; tokens++ {
		_, err := decoder.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && tokens > 0 && decoder.StackDepth() == 0:
			return tokens == 2, nil
		case err != nil:
			return false, syntaxFault(decoder, err)
		case decoder.StackDepth() > mostDepth:
			return false, fault.New(fault.InvalidJSON, "The body nests deeper than %d levels.", mostDepth)
		case decoder.StackDepth() == 0 && len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0:
			return false, fault.New(fault.InvalidJSON, "The body continues after its JSON object, at byte %d.", decoder.InputOffset())
		}
	}
}

func syntaxFault(decoder *jsontext.Decoder, cause error) error {
	switch {
	case errors.Is(cause, jsontext.ErrDuplicateName):
		return fault.New(fault.InvalidJSON, "The body has a name twice in one object, at byte %d.", decoder.InputOffset())
	case errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, io.EOF):
		return fault.New(fault.InvalidJSON, "The body is truncated.")
	}
	return fault.New(fault.InvalidJSON, "The body is not JSON in UTF-8: see byte %d.", decoder.InputOffset())
}
