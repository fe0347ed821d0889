package cost

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
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
	items, err := anyjson.Items(sent)
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
		"session": &d.Session,
	}, problems)
	return d
}

// readFields reads an object into variables by the names of its fields.
func readFields(path string, sent jsontext.Value, variables map[string]any, problems *fault.Problems) {
	if kind := sent.Kind(); kind != '{' {
		problems.Add(wrongType(path, kind, "an object"))
		return
	}
	fields, err := anyjson.Members(sent)
	if err != nil {
		problems.Add(malformed(path, err))
		return
	}
	for _, field := range fields {
		if len(*problems) >= mostProblems {
			return
		}
		at := path + "." + field.Name
		if variable := variables[field.Name]; variable != nil {
			readField(at, field.Value, variable, problems)
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
		*to = new(anyjson.Text(sent))
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
	case errors.Is(err, anyjson.ErrDuplicate):
		return fault.Fieldf(path, fault.Duplicate, "%s names a field twice", path)
	case errors.Is(err, anyjson.ErrManyMembers):
		return fault.Fieldf(path, fault.TooMany, "%s has more than %d fields", path, anyjson.MostMembers)
	}
	return fault.Fieldf(path, fault.InvalidFormat, "%s must be JSON in UTF-8", path)
}
