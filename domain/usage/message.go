package usage

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/anyjson"
)

// cleaned is a message of a program as reports have it. JSON in it is replaced by the message within it.
func cleaned(message string) string {
	message = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(unwrapped(message, deepestMessage), "\ufffd")))
	if runes := []rune(message); len(runes) > MessageLength {
		return string(runes[:MessageLength])
	}
	return message
}

// deepestMessage bounds how many messages are within each other.
const deepestMessage = 5

// unwrapped returns a message without the JSON in it, as of "API Error: 401 {...}": in its place is the message that the JSON has. JSON
// in which there is none is left out where there are other words, and is else the message "an error without a message".
func unwrapped(message string, depth int) string {
	start := strings.IndexAny(message, "{[")
	for ; start >= 0 && depth > 0; start = next(message, start) {
		value, rest, isJSON := leadingJSON(message[start:])
		if !isJSON {
			continue
		}
		before, after := strings.TrimSpace(message[:start]), strings.TrimSpace(rest)
		inner := unwrapped(innerMessage(value, depth), depth-1)
		words := strings.TrimSpace(strings.Join([]string{before, inner, after}, " "))
		if words == "" {
			return "The program reported an error without a message."
		}
		if after != "" {
			return unwrapped(words, depth-1)
		}
		return words
	}
	return message
}

// next returns where the next object or list may begin, or -1.
func next(message string, after int) int {
	if n := strings.IndexAny(message[after+1:], "{["); n >= 0 {
		return after + 1 + n
	}
	return -1
}

// leadingJSON returns the object or the list of objects with which a text begins, and what comes after it.
func leadingJSON(message string) (value jsontext.Value, rest string, ok bool) {
	decoder := jsontext.NewDecoder(strings.NewReader(message), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	value, err := decoder.ReadValue()
	if err != nil || value.Kind() == '[' && !strings.Contains(string(value), "{") {
		return nil, "", false
	}
	value = value.Clone()
	return value, message[decoder.InputOffset():], true
}

// innerMessage returns the message in an error: its member message, detail, description or error, or that of its member error.
func innerMessage(value jsontext.Value, depth int) string {
	if depth <= 0 {
		return ""
	}
	if value.Kind() == '"' {
		return anyjson.Text(value)
	}
	if value.Kind() == '[' {
		if items, _ := anyjson.Items(value); len(items) > 0 {
			return innerMessage(items[0], depth-1)
		}
		return ""
	}
	fields := objectFields{{Name: "error", Value: value}}.within("error")
	for _, name := range []string{"error", "data", "message", "detail", "error_description", "description"} {
		member := fields.get(name)
		if member == nil || member.Kind() != '"' && member.Kind() != '{' && member.Kind() != '[' {
			continue
		}
		if name == "error" && member.Kind() == '"' && fields.text("message") != "" {
			continue // a code
		}
		if inner := innerMessage(member, depth-1); inner != "" {
			return inner
		}
	}
	return ""
}

// bounded returns the first bytes of a text, as many as a result can have, in valid UTF-8.
func bounded(result string) string { return string(appendBounded(nil, result)) }

// appendBounded appends a part of a text, as far as a result has room.
func appendBounded(result []byte, part string) []byte {
	part = strings.ToValidUTF8(part, "\ufffd")
	if room := ResultSize - len(result); len(part) > room {
		part = strings.ToValidUTF8(part[:room], "")
	}
	return append(result, part...)
}
