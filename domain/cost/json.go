package cost

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
	"holdco/domain/money"
)

// mostProblems bounds how many invalid fields of charges are reported: who sent them may be a stranger.
const mostProblems = 100

// DraftsFromJSON reads a list of charges, each as the gateway takes it. Problems get what is wrong with their form, at path and
// below it.
func DraftsFromJSON(path string, sent []byte, problems *fault.Problems) []Draft {
	if kind := jsontext.Value(sent).Kind(); kind != '[' {
		problems.Add(wrongType(path, kind, "a list"))
		return nil
	}
	items, err := itemsOf(sent)
	if err != nil {
		problems.Add(malformed(path, err))
		return nil
	}
	if len(items) > MostInCall {
		problems.Add(tooMany(path, len(items)))
		return nil
	}
	drafts := make([]Draft, len(items))
	for n, item := range items {
		drafts[n] = DraftFromJSON(fmt.Sprintf("%s.%d", path, n), item, problems)
	}
	return drafts
}

// DraftFromJSON reads a charge as the gateway takes it. Problems get what is wrong with its form, at path and below it.
func DraftFromJSON(path string, sent []byte, problems *fault.Problems) (d Draft) {
	readFields(path, sent, map[string]any{
		"key": &d.Key, "kind": &d.Kind, "model": &d.Model, "billing": &d.Billing, "usd": &d.USD, "tokens": &d.Tokens, "calls": &d.Calls,
	}, problems)
	return d
}

// readFields reads an object into variables by the names of its fields.
func readFields(path string, sent jsontext.Value, variables map[string]any, problems *fault.Problems) {
	if kind := sent.Kind(); kind != '{' {
		problems.Add(wrongType(path, kind, "an object"))
		return
	}
	fields, err := membersOf(sent)
	if err != nil {
		problems.Add(malformed(path, err))
		return
	}
	for _, field := range fields {
		if len(*problems) >= mostProblems {
			return
		}
		at := path + "." + field.name
		if variable := variables[field.name]; variable != nil {
			readField(at, field.value, variable, problems)
		} else {
			problems.Add(fault.Fieldf(at, fault.UnknownField, "%s is not a field of a charge", at))
		}
	}
}

func readField(path string, sent jsontext.Value, variable any, problems *fault.Problems) {
	kind := sent.Kind()
	switch to := variable.(type) {
	case **string:
		if kind != '"' {
			problems.Add(wrongType(path, kind, "a string"))
			return
		}
		*to = new(unquoted(sent))
	case **money.Number:
		if kind != '0' {
			problems.Add(wrongType(path, kind, "a number"))
			return
		}
		*to = new(money.Number(sent))
	case **int64:
		readInteger(path, sent, to, problems)
	case **TokensDraft:
		if kind != '{' {
			problems.Add(wrongType(path, kind, "an object"))
			return
		}
		var t TokensDraft
		readFields(path, sent, map[string]any{
			"input": &t.Input, "output": &t.Output, "cacheRead": &t.CacheRead, "cacheWrite": &t.CacheWrite,
		}, problems)
		*to = &t
	}
}

// readInteger goes by value, not by spelling: 3.0 and 30e-1 are 3.
func readInteger(path string, sent jsontext.Value, to **int64, problems *fault.Problems) {
	if kind := sent.Kind(); kind != '0' {
		problems.Add(wrongType(path, kind, "a whole number"))
		return
	}
	integer, err := money.Number(sent).Scaled(0)
	switch {
	case errors.Is(err, money.ErrOutOfRange):
		problems.Add(fault.Fieldf(path, fault.OutOfRange, "%s is beyond all bounds", path))
	case err != nil:
		problems.Add(fault.Fieldf(path, fault.WrongType, "%s must be a whole number", path))
	default:
		*to = &integer
	}
}

func wrongType(path string, kind jsontext.Kind, want string) fault.Field {
	if kind == 'n' {
		return fault.Fieldf(path, fault.NotNull, "%s must not be null", path)
	}
	return fault.Fieldf(path, fault.WrongType, "%s must be %s", path, want)
}

func malformed(path string, err error) fault.Field {
	switch {
	case errors.Is(err, errDuplicate):
		return fault.Fieldf(path, fault.Duplicate, "%s names a field twice", path)
	case errors.Is(err, errManyMembers):
		return fault.Fieldf(path, fault.TooMany, "%s has more than %d fields", path, mostMembers)
	}
	return fault.Fieldf(path, fault.InvalidFormat, "%s must be JSON in UTF-8", path)
}

// member is a member of a JSON object.
type member struct {
	name  string
	value jsontext.Value // part of the object, as it was sent
}

// mostMembers bounds what is read of an object: no charge, and no report of one, has as many members.
const mostMembers = 1000

var (
	errDuplicate   = errors.New("a member is named twice")
	errManyMembers = errors.New("too many members")
	errFollows     = errors.New("something follows")
)

// membersOf returns the members of an object. It fails when that is not valid JSON, names one twice, has more than mostMembers, or
// is followed by something. In their values names are not checked.
func membersOf(object []byte, options ...jsontext.Options) (members []member, err error) {
	names := map[string]bool{}
	err = walk(object, options, func(next func() jsontext.Value) error {
		name := unquoted(next())
		switch {
		case names[name]:
			return errDuplicate
		case len(members) == mostMembers:
			return errManyMembers
		}
		names[name] = true
		members = append(members, member{name, next()})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}

// itemsOf returns the items of a list, as membersOf does members.
func itemsOf(list []byte) (items []jsontext.Value, err error) {
	err = walk(list, nil, func(next func() jsontext.Value) error {
		items = append(items, next())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// walk calls each for every item or member; what that is, it reads with next. Nothing is valid that is read before an error.
func walk(value []byte, options []jsontext.Options, each func(next func() jsontext.Value) error) error {
	options = append(options, jsontext.AllowDuplicateNames(true)) // to check them here costs a large object less memory
	decoder := jsontext.NewDecoder(bytes.NewBuffer(value), options...)
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	var broken error
	next := func() jsontext.Value {
		if broken != nil {
			return nil
		}
		var read jsontext.Value
		if read, broken = decoder.ReadValue(); broken != nil {
			return nil
		}
		end := decoder.InputOffset()
		return value[end-int64(len(read)) : end] // what was read holds only until the next is
	}
	for decoder.PeekKind() != '}' && decoder.PeekKind() != ']' {
		if err := each(next); err != nil || broken != nil {
			return cmp.Or(broken, err)
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errFollows
	}
	return nil
}

// unquoted is what a string stands for.
func unquoted(quoted jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return string(text)
}
