package httpkit

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
	"holdco/domain/money"
)

// mostProblems bounds how many invalid fields of one body are reported.
const mostProblems = 1000

// Decode reads a body that has passed the gate into T, a struct with JSON tags, and lists everything about its form that
// is wrong: unknown fields, wrong types, nulls where there must be a value. Fields at fault stay zero. What is absent
// stays zero too: whether it is needed is for the domain to say. No body gives the zero T.
//
// A field is a struct, a slice, a string, a bool, an int64, a money.Number, an Object, a Value, or a pointer to one of these. The tag
// nullable:"true" lets null stand for absent; where the two differ, a pointer to a pointer is nil when the field is
// absent, and points to nil when it is null.
func Decode[T any](body []byte) (T, fault.Problems) {
	var value T
	if body == nil {
		return value, nil
	}
	w := walker{decoder: jsontext.NewDecoder(bytes.NewReader(body))}
	w.read("", reflect.ValueOf(&value).Elem())
	return value, w.problems
}

// Object is a JSON object, which is passed to the domain as it was sent.
type Object []byte

// Value is any JSON value, which is passed to the domain as it was sent.
type Value []byte

// walker reads one body, token by token.
type walker struct {
	decoder  *jsontext.Decoder
	problems fault.Problems
}

var (
	numberType = reflect.TypeFor[money.Number]()
	objectType = reflect.TypeFor[Object]()
	valueType  = reflect.TypeFor[Value]()
)

// read reads the next value into target, and reports whether it could be.
func (w *walker) read(path string, target reflect.Value) bool {
	kind := w.decoder.PeekKind()
	switch {
	case kind == 'n':
		return w.skip(path, fault.NotNull, "must not be null")
	case target.Kind() == reflect.Pointer:
		pointed := reflect.New(target.Type().Elem())
		if !w.read(path, pointed.Elem()) {
			return false
		}
		target.Set(pointed)
	case target.Type() == numberType:
		if kind != '0' {
			return w.skip(path, fault.WrongType, "must be a number")
		}
		target.SetString(string(w.value()))
	case target.Type() == objectType:
		if kind != '{' {
			return w.skip(path, fault.WrongType, "must be an object")
		}
		target.SetBytes(slices.Clone(w.value()))
	case target.Type() == valueType:
		target.SetBytes(slices.Clone(w.value()))
	case target.Kind() == reflect.Int64:
		return w.readInteger(path, target)
	case target.Kind() == reflect.String:
		if kind != '"' {
			return w.skip(path, fault.WrongType, "must be a string")
		}
		target.SetString(w.token().String())
	case target.Kind() == reflect.Bool:
		if kind != 't' && kind != 'f' {
			return w.skip(path, fault.WrongType, "must be true or false")
		}
		target.SetBool(w.token().Bool())
	case target.Kind() == reflect.Slice:
		return w.readList(path, target)
	case target.Kind() == reflect.Struct:
		return w.readObject(path, target)
	default:
		panic(fmt.Sprintf("%s: no body can be read into %s", path, target.Type()))
	}
	return true
}

// readInteger goes by value, not by spelling: 3.0 and 30e-1 are 3.
func (w *walker) readInteger(path string, target reflect.Value) bool {
	if w.decoder.PeekKind() != '0' {
		return w.skip(path, fault.WrongType, "must be a whole number")
	}
	integer, err := money.Number(w.value()).Scaled(0)
	switch {
	case errors.Is(err, money.ErrOutOfRange):
		return w.problem(path, fault.OutOfRange, "is beyond all bounds")
	case err != nil:
		return w.problem(path, fault.WrongType, "must be a whole number")
	}
	target.SetInt(integer)
	return true
}

func (w *walker) readList(path string, target reflect.Value) bool {
	if w.decoder.PeekKind() != '[' {
		return w.skip(path, fault.WrongType, "must be a list")
	}
	w.token()
	list := reflect.MakeSlice(target.Type(), 0, 0)
	for i := 0; w.decoder.PeekKind() != ']'; i++ {
		item := reflect.New(target.Type().Elem()).Elem()
		w.read(join(path, strconv.Itoa(i)), item)
		list = reflect.Append(list, item)
	}
	w.token()
	target.Set(list)
	return true
}

func (w *walker) readObject(path string, target reflect.Value) bool {
	if w.decoder.PeekKind() != '{' {
		return w.skip(path, fault.WrongType, "must be an object")
	}
	w.token()
	for w.decoder.PeekKind() != '}' {
		name := w.token().String()
		field, nullable, ok := fieldOf(target, name)
		switch {
		case !ok:
			w.skip(join(path, name), fault.UnknownField, "is not a field of this request")
		case nullable && w.decoder.PeekKind() == 'n':
			w.token()
			if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Pointer {
				field.Set(reflect.New(field.Type().Elem()))
			}
		default:
			w.read(join(path, name), field)
		}
	}
	w.token()
	return true
}

// fieldOf finds a field by its JSON name, to the letter.
func fieldOf(object reflect.Value, name string) (field reflect.Value, nullable, ok bool) {
	for i := range object.NumField() {
		described := object.Type().Field(i)
		if tagged, _, _ := strings.Cut(described.Tag.Get("json"), ","); tagged == name && name != "" {
			return object.Field(i), described.Tag.Get("nullable") == "true", true
		}
	}
	return reflect.Value{}, false, false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (w *walker) skip(path, code, wrong string) bool {
	w.value()
	return w.problem(path, code, wrong)
}

// problem notes what is wrong with a value. It returns false, for its callers to return: the value was not read.
func (w *walker) problem(path, code, wrong string) bool {
	if len(w.problems) < mostProblems {
		w.problems = append(w.problems, fault.Fieldf(path, code, "%s %s", path, wrong))
	}
	return false
}

func (w *walker) token() jsontext.Token {
	token, err := w.decoder.ReadToken()
	checked(err)
	return token
}

func (w *walker) value() jsontext.Value {
	value, err := w.decoder.ReadValue()
	checked(err)
	return value
}

func checked(err error) {
	if err != nil {
		panic(fmt.Sprintf("the body has not passed the gate: %v", err))
	}
}
