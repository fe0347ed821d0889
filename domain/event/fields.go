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
		if i >= len(next) || !reflect.DeepEqual(field, next[i]) {
			changed = append(changed, field)
		}
	}
	return changed
}

// MarshalJSON writes the fields as an object, in their order.
func (f Fields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, field := range f {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(field.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
