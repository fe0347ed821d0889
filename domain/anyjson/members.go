package anyjson

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value jsontext.Value // part of the object, as it was sent
}

// MostMembers bounds what is read of an object.
const MostMembers = 1000

// What Members refuses besides what is not valid.
var (
	ErrDuplicate   = errors.New("a member is named twice")
	ErrManyMembers = errors.New("too many members")
	errFollows     = errors.New("something follows")
)

// Members returns the members of an object. It fails when that is not valid JSON, names one twice, has more than MostMembers, or
// is followed by something. In their values names are not checked.
func Members(object []byte, options ...jsontext.Options) (members []Member, err error) {
	names := map[string]bool{}
	err = walk(object, options, func(next func() jsontext.Value) error {
		name := Text(next())
		switch {
		case names[name]:
			return ErrDuplicate
		case len(members) == MostMembers:
			return ErrManyMembers
		}
		names[name] = true
		members = append(members, Member{name, next()})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}

// Items returns the items of a list, as Members does members.
func Items(list []byte) (items []jsontext.Value, err error) {
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

// Text is what a string stands for.
func Text(quoted jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return string(text)
}
