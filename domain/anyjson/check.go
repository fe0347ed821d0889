package anyjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
)

// mostLevels is how deep a JSON value may nest: a request may have one level more, in which it is a member.
const mostLevels = 31

// Check returns a JSON value without insignificant space. It is at most so many bytes long, and as a request may have it: it
// names no member twice, and its strings are valid Unicode.
func Check(path string, sent []byte, most int, problems *fault.Problems) string {
	if sent == nil {
		return ""
	}
	value := jsontext.Value(slices.Clone(sent))
	if err := value.Compact(); err != nil || !isStrict(value) {
		problems.Add(fault.Fieldf(path, fault.InvalidFormat, "%s must be JSON", path))
		return ""
	}
	if len(value) > most {
		problems.Add(fault.Fieldf(path, fault.TooLong, "%s must have at most %d bytes", path, most))
		return ""
	}
	return string(value)
}

// isStrict reports whether the library, which follows RFC 7493 unless told otherwise, reads all of a value.
func isStrict(value jsontext.Value) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		_, err := decoder.ReadToken()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if decoder.StackDepth() > mostLevels {
			return false
		}
	}
}

// Shown is JSON that is kept as text as an answer shows it: as it is, and none as null.
func Shown(kept string) any {
	if kept == "" {
		return nil
	}
	return json.RawMessage(kept)
}
