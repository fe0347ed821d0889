package usage

import (
	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
	"holdco/domain/cost"
	"holdco/domain/money"
	"holdco/domain/text"
)

// objectFields are the members of an object.
type objectFields []anyjson.Member

// get returns the value of a member, or nil.
func (f objectFields) get(name string) jsontext.Value {
	for _, field := range f {
		if field.Name == name {
			return field.Value
		}
	}
	return nil
}

// object returns the members of a member that is an object, and none if it is null or there is no such member. It reports whether it
// could be read.
func (f objectFields) object(name string) (objectFields, bool) {
	switch value := f.get(name); value.Kind() {
	case '{':
		fields, err := anyjson.Members(value, jsontext.AllowInvalidUTF8(true))
		return fields, err == nil
	default:
		return nil, value == nil || value.Kind() == 'n'
	}
}

// within is object for members of members.
func (f objectFields) within(names ...string) objectFields {
	for _, name := range names {
		f, _ = f.object(name)
	}
	return f
}

// text returns the value of a member that is a string, or "".
func (f objectFields) text(name string) string {
	if value := f.get(name); value.Kind() == '"' {
		return anyjson.Text(value)
	}
	return ""
}

// isTrue reports whether a member is true.
func (f objectFields) isTrue(name string) bool { return f.get(name).Kind() == 't' }

// count reads the value of a member, a number of tokens; 0 if there is no such member. It reports whether it is one.
func (f objectFields) count(name string) (int64, bool) {
	value := f.get(name)
	if name == "" || value == nil || value.Kind() == 'n' {
		return 0, true
	}
	if value.Kind() != '0' {
		return 0, false
	}
	number, err := money.Number(value).Scaled(0) // by value, not by spelling, as of a charge
	if err != nil || number < 0 || number > cost.MostTokens {
		return 0, false
	}
	return number, true
}

// tokens reads the members of these names; "" is none. It reports whether they are numbers of tokens.
func (f objectFields) tokens(input, output, cacheRead, cacheWrite string) (t cost.Tokens, ok bool) {
	ok = true
	for _, field := range []struct {
		name string
		to   *int64
	}{{input, &t.Input}, {output, &t.Output}, {cacheRead, &t.CacheRead}, {cacheWrite, &t.CacheWrite}} {
		count, isCount := f.count(field.name)
		*field.to, ok = count, ok && isCount
	}
	return t, ok
}

// cached reads the tokens of a cache: what was read from it, and written to it.
func (f objectFields) cached(name string) (t cost.Tokens, ok bool) {
	cache, isObject := f.object(name)
	t, ok = cache.tokens("", "", "read", "write")
	return t, ok && isObject
}

// dollars reads a number of dollars by the rule for charges. It reports whether it is one.
func dollars(value jsontext.Value) (money.USD, bool) {
	if value.Kind() != '0' {
		return 0, false
	}
	amount, wrong := money.ParseCharge("usd", money.Number(value), 0, cost.Most)
	return amount, wrong == nil
}

// firstModel returns the first of names that can be that of a model, or "".
func firstModel(names ...string) string {
	for _, name := range names {
		if name, wrong := text.Name("model", name, cost.ModelLength); wrong == nil {
			return name
		}
	}
	return ""
}
