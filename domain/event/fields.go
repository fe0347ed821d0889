package event

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Fields are the fields of a resource under the names and in the order of the public API. Values are strings, numbers,
// booleans, nil, json.Marshalers, slices of these, and nested Fields.
type Fields []Field

// Field is one of them.
type Field struct {
	Name  string
	Value any
}

// F makes a field.
func F(name string, value any) Field { return Field{Name: name, Value: value} }

// Changed returns those of f whose values differ in next, with the values that they have in f.
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

// MarshalJSON writes the fields as an object, in their order.
func (f Fields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // nobody puts it into HTML as it is
	if err := f.write(&out, encoder); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// write writes the fields to out, where the encoder writes too. Their names need no escapes: they are
// made of letters.
func (f Fields) write(out *bytes.Buffer, encoder *json.Encoder) error {
	separator := `{"`
	for _, field := range f {
		out.WriteString(separator)
		out.WriteString(field.Name)
		out.WriteString(`":`)
		separator = `,"`
		if nested, ok := field.Value.(Fields); ok {
			if err := nested.write(out, encoder); err != nil {
				return err
			}
			continue
		}
		if err := encoder.Encode(field.Value); err != nil {
			return err
		}
		out.Truncate(out.Len() - len("\n")) // which Encode ends with
	}
	if len(f) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return nil
}
