package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Field is an error of one field of what was sent.
type Field struct {
	Path    string // such as "budget.usd" or "startingTeams.0.name"; empty: all of what was sent
	Code    string // one of the constants below
	Message string
	Quoted  string // what Message quotes of the value that was sent, as it is spelled there; empty: nothing
}

// What can be wrong with a field.
const (
	Required          = "required"           // absent, or blank
	NotNull           = "not_null"           // null where a value is needed
	WrongType         = "wrong_type"         // another JSON type than the field's
	UnknownField      = "unknown_field"      // no such field
	Immutable         = "immutable"          // cannot be changed by a patch
	TooLong           = "too_long"           // more characters than allowed
	TooMany           = "too_many"           // more items than allowed
	OutOfRange        = "out_of_range"       // a number or time beyond its bounds
	TooPrecise        = "too_precise"        // more decimals than allowed
	InvalidFormat     = "invalid_format"     // does not have the form that the field asks for
	InvalidCharacters = "invalid_characters" // contains forbidden characters, such as control characters
	UnknownValue      = "unknown_value"      // not one of the allowed values
	Duplicate         = "duplicate"          // given twice where values must differ
)

// Fieldf returns an error of one field; the message is formatted as by fmt.Sprintf.
func Fieldf(path, code, format string, args ...any) Field {
	return Field{Path: path, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Quotef is Fieldf for a message that quotes the value that was sent. Only one of the arguments is that value, as the message spells it.
func Quotef(path, code, quoted, format string, args ...any) Field {
	f := Fieldf(path, code, format, args...)
	f.Quoted = quoted
	return f
}

// Unquoted returns the error without what was sent: the value that it quotes, and the name of a field that does not exist.
func (f Field) Unquoted() Field {
	switch {
	case f.Code == UnknownField:
		return Fieldf("", f.Code, "a field that was sent is not a field here")
	case f.Quoted != "":
		f.Message, f.Quoted = strings.ReplaceAll(f.Message, f.Quoted, "the value"), ""
	}
	return f
}

// Problems collects errors of fields, to report all of them at once.
type Problems []Field

// Add adds errors, except below a path that has an error already: a field of the wrong type is not also missing, and
// neither are the fields in it. The empty path contains everything.
func (p *Problems) Add(faults ...Field) {
	for _, f := range faults {
		if !slices.ContainsFunc(*p, func(noted Field) bool { return noted.covers(f) }) {
			*p = append(*p, f)
		}
	}
}

// Require adds that a field is required, unless it was sent.
func (p *Problems) Require(path string, isSent bool) {
	if !isSent {
		p.Add(Fieldf(path, Required, "%s is required", path))
	}
}

// covers reports whether other is at the same path, or below it. Everything is below the empty path.
func (f Field) covers(other Field) bool {
	below, found := strings.CutPrefix(other.Path, f.Path)
	return found && (f.Path == "" || below == "" || below[0] == '.')
}

// Immutable returns the problems of a patch that are attempts to change read-only fields.
func (p Problems) Immutable(readOnly []string) []Field {
	var picked []Field
	for _, problem := range p {
		if problem.Code == UnknownField && slices.Contains(readOnly, problem.Path) {
			picked = append(picked, Fieldf(problem.Path, Immutable, "%s cannot be changed by a patch", problem.Path))
		}
	}
	return picked
}

// Validation is the fault of invalid fields.
func Validation(fields []Field) *Error {
	return ofFields(ValidationFailed, "The request has fields that are not valid.", fields)
}

// Immutables is the fault of a patch that has read-only fields.
func Immutables(fields []Field) *Error {
	return ofFields(ImmutableField, "The patch names fields that cannot be changed.", fields)
}

// Budget is the fault of budget figures outside their bounds.
func Budget(fields []Field) *Error {
	return ofFields(BudgetInvalid, "The budget is not valid: usd must be 0 or more, reservePercent from 0 to 100.", fields)
}

func ofFields(code Code, message string, fields []Field) *Error {
	return &Error{Code: code, Message: message, Fields: fields}
}
