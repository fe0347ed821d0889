package agent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// mergePatch applies a merge patch to a value (RFC 7396); both are valid, or target is nil. Members keep their order, and new
// ones follow in the order of the patch. Strings and numbers stay as they were sent, and no insignificant space is added.
func mergePatch(target, patch jsontext.Value) jsontext.Value {
	if patch.Kind() != '{' {
		_ = patch.Compact() // valid, so it cannot fail
		return patch
	}
	merged := membersOf(target)
	places := make(map[string]int, len(merged))
	for i, m := range merged {
		places[m.name] = i
	}
	for _, change := range membersOf(patch) {
		i, found := places[change.name]
		switch {
		case change.value.Kind() == 'n' && found:
			merged[i].value = nil
		case change.value.Kind() == 'n':
		case found:
			merged[i].value = mergePatch(merged[i].value, change.value)
		default:
			change.value = mergePatch(nil, change.value)
			merged = append(merged, change)
		}
	}
	return objectOf(merged)
}

// member is a member of a JSON object.
type member struct {
	name  string
	sent  jsontext.Value // the name as it was sent, with its quotes and escapes
	value jsontext.Value // nil: removed
}

// membersOf returns the members of a valid object, in their order. Another value has none.
func membersOf(object jsontext.Value) (members []member) {
	if object.Kind() != '{' {
		return nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(object))
	_, _ = decoder.ReadToken()
	for decoder.PeekKind() == '"' {
		sent, _ := decoder.ReadValue()
		m := member{sent: sent.Clone()}
		name, _ := jsontext.AppendUnquote(nil, m.sent)
		m.name = string(name)
		value, _ := decoder.ReadValue()
		m.value = value.Clone()
		members = append(members, m)
	}
	return members
}

// objectOf is the object of those members that have a value.
func objectOf(members []member) jsontext.Value {
	object := jsontext.Value{'{'}
	for _, m := range members {
		if m.value == nil {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(append(object, m.sent...), ':'), m.value...)
	}
	return append(object, '}')
}
