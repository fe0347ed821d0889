package importer

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
)

// walker reads JSON objects, token by token, and notes what is wrong with them. Null means absent. It reads nothing after a
// syntax error.
type walker struct {
	what     string // is read
	buffer   bytes.Buffer
	decoder  *jsontext.Decoder
	problems fault.Problems
	broken   error
}

// mostProblems bounds how many invalid fields of one object are reported.
const mostProblems = 100

// read reads a text that must hold one object, and nothing else.
func read[D any](w *walker, text []byte, object func(w *walker) D) D {
	w.buffer, w.problems, w.broken = *bytes.NewBuffer(text), nil, nil
	if w.decoder == nil {
		w.decoder = jsontext.NewDecoder(&w.buffer)
	} else {
		w.decoder.Reset(&w.buffer)
	}
	var draft D
	switch kind := w.decoder.PeekKind(); {
	case kind == '{':
		draft = object(w)
	case kind != 0:
		w.problems.Add(fault.Fieldf("", fault.WrongType, "%s must be a JSON object", w.what))
		return draft
	default:
		w.token()
	}
	if w.broken == nil {
		if _, err := w.decoder.ReadToken(); !errors.Is(err, io.EOF) {
			w.problems = fault.Problems{fault.Fieldf("", fault.InvalidFormat, "%s continues after its JSON object", w.what)}
		}
		return draft
	}
	w.problems = fault.Problems{w.syntax()}
	return draft
}

// syntax describes why a text is not valid JSON.
func (w *walker) syntax() fault.Field {
	var wrong *jsontext.SyntacticError
	switch {
	case errors.Is(w.broken, io.ErrUnexpectedEOF), errors.Is(w.broken, io.EOF):
		return fault.Fieldf("", fault.InvalidFormat, "%s is truncated: its JSON object has no end", w.what)
	case !errors.As(w.broken, &wrong):
		return fault.Fieldf("", fault.InvalidFormat, "%s is not JSON: %s", w.what, w.broken)
	case errors.Is(wrong, jsontext.ErrDuplicateName):
		twice := strconv.Quote(path(wrong.JSONPointer))
		return fault.Quotef("", fault.Duplicate, twice, "%s names %s twice", w.what, twice)
	}
	return fault.Fieldf("", fault.InvalidFormat, "%s is not JSON in UTF-8: see its byte %d", w.what, wrong.ByteOffset+1)
}

// object reads an object, field by field: with a function that reads the value of a field, or reports that there is no
// such field. The name holds until something is read.
func (w *walker) object(field func(name []byte) (ok bool)) {
	if !w.begins('{', "must be an object") {
		return
	}
	for w.more('}') {
		name := w.value()
		if bytes.IndexByte(name, '\\') >= 0 {
			name, _ = jsontext.AppendUnquote(nil, name)
		} else if len(name) > 0 {
			name = name[1 : len(name)-1]
		}
		if w.broken == nil && !field(name) {
			w.refuse(fault.UnknownField, "is not a field here")
		}
	}
	w.token()
}

// fields reads an object whose fields are strings, booleans and lists of strings into variables; nil skips a field.
// It costs a map, so objects that leads have by the million use object.
func (w *walker) fields(variables map[string]any) {
	w.object(func(name []byte) bool {
		variable, found := variables[string(name)]
		switch to := variable.(type) {
		case *string:
			*to = w.text()
		case **bool:
			*to = w.boolean()
		case *[]string:
			*to = w.stringList()
		default:
			if found {
				w.skip()
			}
		}
		return found
	})
}

// list reads a list, item by item. No item may be null.
func (w *walker) list(item func()) {
	if !w.begins('[', "must be a list") {
		return
	}
	for w.more(']') {
		null := w.decoder.PeekKind() == 'n'
		item()
		if null {
			w.problem(fault.NotNull, "must not be null")
		}
	}
	w.token()
}

// begins reports whether an object or a list begins, and reads its beginning.
func (w *walker) begins(kind jsontext.Kind, wrong string) bool {
	switch w.decoder.PeekKind() {
	case kind:
		w.token()
		return w.broken == nil
	case 'n':
		w.skip()
	default:
		w.refuse(fault.WrongType, wrong)
	}
	return false
}

// more reports whether there is another item before the end.
func (w *walker) more(end jsontext.Kind) bool {
	return w.broken == nil && w.decoder.PeekKind() != end
}

// text reads a string.
func (w *walker) text() string {
	switch w.decoder.PeekKind() {
	case '"':
		return unquoted(w.value())
	case 'n':
		w.skip()
	default:
		w.refuse(fault.WrongType, "must be a string")
	}
	return ""
}

// stringList reads a list of strings.
func (w *walker) stringList() []string {
	var all []string
	w.list(func() { all = append(all, w.text()) })
	return all
}

// number reads a number, as it is written.
func (w *walker) number() string {
	switch w.decoder.PeekKind() {
	case '0':
		return string(w.value())
	case 'n':
		w.skip()
	default:
		w.refuse(fault.WrongType, "must be a number")
	}
	return ""
}

// boolean reads true or false.
func (w *walker) boolean() *bool {
	switch kind := w.decoder.PeekKind(); kind {
	case 't', 'f':
		w.skip()
		return new(kind == 't')
	case 'n':
		w.skip()
	default:
		w.refuse(fault.WrongType, "must be true or false")
	}
	return nil
}

// loose reads a string, or whatever else there is as it is written: it may turn out that nobody needs it.
func (w *walker) loose() string {
	switch w.decoder.PeekKind() {
	case '"':
		return unquoted(w.value())
	case 'n':
		w.skip()
		return ""
	}
	return string(w.value())
}

// refuse passes over a value that cannot be taken.
func (w *walker) refuse(code, wrong string) {
	w.skip()
	w.problem(code, wrong)
}

// problem notes what is wrong with the value that was read last.
func (w *walker) problem(code, wrong string) {
	if w.broken == nil && len(w.problems) < mostProblems {
		at := path(w.decoder.StackPointer())
		w.problems.Add(fault.Fieldf(at, code, "%s %s", at, wrong))
	}
}

func (w *walker) skip() {
	if w.broken == nil {
		w.broken = w.decoder.SkipValue()
	}
}

// value returns the next value as it is written, until something else is read.
func (w *walker) value() []byte {
	if w.broken != nil {
		return nil
	}
	var value jsontext.Value
	value, w.broken = w.decoder.ReadValue()
	return value
}

func (w *walker) token() {
	if w.broken == nil {
		_, w.broken = w.decoder.ReadToken()
	}
}

// unquoted is what a string stands for.
func unquoted(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(bytes.Trim(quoted, `"`))
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return string(text)
}

// path spells where something stands, such as contacts.0.email.
func path(pointer jsontext.Pointer) string {
	const longest = 100
	spelled := strings.Join(slices.Collect(pointer.Tokens()), ".")
	if len(spelled) > longest {
		return strings.ToValidUTF8(spelled[:longest], "") + "..."
	}
	return spelled
}
