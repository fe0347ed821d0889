package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/money"
)

// The arguments of tools are what models write, through clients that add mistakes of their own: lists and objects as JSON text,
// numbers and booleans in quotes, null for what is absent. The functions below read these by the schema, and leave alone what they
// cannot read: the operation then says what is wrong.

// read returns a value as its schema wants it.
func read(schema map[string]any, value any) any {
	kind, isOne := schema["type"].(string)
	if !isOne { // any JSON, as it was sent
		return value
	}
	sent, isText := value.(string)
	switch kind {
	case "object":
		if isText {
			value = parsed(sent, value, func(v any) bool { _, fits := v.(map[string]any); return fits })
		}
		if members, fits := value.(map[string]any); fits {
			readMembers(schema, members)
		}
	case "array":
		if isText {
			value = parsed(sent, value, func(v any) bool { _, fits := v.([]any); return fits })
		}
		if items, fits := value.([]any); fits {
			readItems(schema, items)
		}
	case "integer", "number":
		if isText {
			value = parsed(sent, value, func(v any) bool { _, fits := v.(json.Number); return fits })
		}
		if number, fits := value.(json.Number); fits && kind == "integer" {
			return whole(number)
		}
	case "boolean":
		if isText {
			return boolean(sent)
		}
	}
	return value
}

// readMembers reads the members of an object. One that is null is absent, unless it may be any JSON.
func readMembers(schema map[string]any, members map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range members {
		described, isKnown := properties[name].(map[string]any)
		if !isKnown {
			continue
		}
		if _, isOne := described["type"].(string); isOne && value == nil {
			delete(members, name)
			continue
		}
		if slices.Contains(issueArguments, name) {
			value = issueReferences(value)
		}
		members[name] = read(described, value)
		if slices.Contains(issueArguments, name) {
			members[name] = issueReferences(members[name])
		}
	}
}

func readItems(schema map[string]any, items []any) {
	described, _ := schema["items"].(map[string]any)
	for n, item := range items {
		items[n] = read(described, item)
	}
}

// issueReferences spells numbers of issues as the operations take them: 12 and "#12" are "12".
func issueReferences(value any) any {
	switch sent := value.(type) {
	case json.Number:
		return sent.String()
	case string:
		if number, isMarked := strings.CutPrefix(sent, "#"); isMarked {
			return number
		}
	case []any:
		for n, item := range sent {
			sent[n] = issueReferences(item)
		}
	}
	return value
}

// parsed is the value of a JSON text if it fits, else what was sent.
func parsed(text string, sent any, fits func(value any) bool) any {
	if !jsontext.Value(text).IsValid() { // or has a name twice in one object
		return sent
	}
	if value, err := parse([]byte(text)); err == nil && fits(value) {
		return value
	}
	return sent
}

// parse reads exactly one JSON value. Numbers, amounts of money among them, stay as they were sent.
func parse(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the text continues after its value")
	}
	return value, nil
}

// whole spells a number as a whole number if it is one: 5.0 is 5.
func whole(number json.Number) json.Number {
	if scaled, err := money.Number(number).Scaled(0); err == nil {
		return json.Number(strconv.FormatInt(scaled, 10))
	}
	return number
}

func boolean(text string) any {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}
