package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"holdco/domain/money"
)

// Fields are the fields of a resource, with the names and in the order of the public API. Values are strings, numbers,
// booleans, nil, json.Marshalers, slices of these, and nested Fields.
type Fields []Field

// Field is one of them.
type Field struct {
	Name  string
	Value any
}

// F makes a field.
func F(name string, value any) Field { return Field{Name: name, Value: value} }

// Optional makes a field of a text or an id that is null when that is empty.
func Optional[S ~string](name string, text S) Field {
	if text == "" {
		return F(name, (*string)(nil))
	}
	return F(name, new(string(text)))
}

// Changed returns the fields of f whose values differ in next, with their values in f.
func (f Fields) Changed(next Fields) Fields {
	var changed Fields
	for i, field := range f {
		if i >= len(next) || field.Name != next[i].Name || !equal(field.Value, next[i].Value) {
			changed = append(changed, field)
		}
	}
	return changed
}

// equal compares the values that most fields have without reflection.
func equal(a, b any) bool {
	switch a.(type) {
	case string, int, bool:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// Append appends the fields to dst as a JSON object, in their order, encoded as by encoding/json without HTML escapes.
// It panics when a value cannot be encoded.
func (f Fields) Append(dst []byte) []byte {
	dst, err := f.append(dst)
	if err != nil {
		panic(err)
	}
	return dst
}

// MarshalJSON encodes the fields as Append does.
func (f Fields) MarshalJSON() ([]byte, error) { return f.append(nil) }

// append does not escape names: they consist of letters.
func (f Fields) append(dst []byte) (_ []byte, err error) {
	dst = append(dst, '{')
	for i, field := range f {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), field.Name...), '"', ':')
		if dst, err = appendValue(dst, field.Value); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendValue(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendString(dst, v), nil
	case *string:
		if v == nil {
			return append(dst, "null"...), nil
		}
		return appendString(dst, *v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case money.USD:
		return append(dst, v.String()...), nil
	case money.Percent:
		return append(dst, v.String()...), nil
	case Fields:
		return v.append(dst)
	case []Fields:
		return appendList(dst, v, func(dst []byte, item Fields) ([]byte, error) { return item.append(dst) })
	case []string:
		return appendList(dst, v, func(dst []byte, item string) ([]byte, error) { return appendString(dst, item), nil })
	}
	return appendOther(dst, value)
}

// appendList encodes a nil list as null, as encoding/json does.
func appendList[T any](dst []byte, list []T, appendItem func(dst []byte, item T) ([]byte, error)) (_ []byte, err error) {
	if list == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendItem(dst, item); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendString(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(dst, text)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

// appendEscaped escapes what encoding/json does: control characters, quotes, backslashes, the line separators of
// JavaScript, and invalid UTF-8, which becomes the replacement character.
func appendEscaped(dst []byte, text string) []byte {
	dst = append(dst, '"')
	done := 0
	for i, r := range text {
		escape, size := "", utf8.RuneLen(r)
		switch {
		case r == '"':
			escape = `\"`
		case r == '\\':
			escape = `\\`
		case r < ' ':
			escape = controls[r]
		case r == '\u2028':
			escape = `\u2028`
		case r == '\u2029':
			escape = `\u2029`
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			escape, size = `\ufffd`, 1
		}
		if escape != "" {
			dst = append(append(dst, text[done:i]...), escape...)
			done = i + size
		}
	}
	return append(append(dst, text[done:]...), '"')
}

// controls are the escapes of the control characters.
var controls = func() (escapes [' ']string) {
	for c := range escapes {
		escapes[c] = fmt.Sprintf(`\u%04x`, c)
	}
	escapes['\b'], escapes['\f'], escapes['\n'], escapes['\r'], escapes['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	return escapes
}()

func appendOther(dst []byte, value any) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil // which Encode adds
}
