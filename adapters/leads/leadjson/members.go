package leadjson

import (
	"iter"
	"strings"
)

// What is read here is what Encode and the taxonomy have written: objects and lists without spaces, and names of fields without escapes. So
// they are taken apart by their quotes and brackets, and nothing is decoded.

// Members are the fields of an object, with their values as they are written. It also takes the inside of one. Null has none.
func Members(object string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for rest := inside(object); rest != ""; {
			const quotes = `""`
			end := strings.IndexByte(rest[1:], '"')
			name := rest[1 : 1+end]
			rest = rest[len(name)+len(quotes)+len(":"):]
			size := valueSize(rest)
			if !yield(name, rest[:size]) {
				return
			}
			rest = strings.TrimPrefix(rest[size:], ",")
		}
	}
}

// Items are those of a list, as they are written, each with the rest of the list from it on, without brackets. Null has none.
func Items(list string) iter.Seq2[string, string] {
	return func(yield func(item, rest string) bool) {
		for rest := inside(list); rest != ""; {
			size := valueSize(rest)
			if !yield(rest[:size], rest) {
				return
			}
			rest = strings.TrimPrefix(rest[size:], ",")
		}
	}
}

// inside returns what is between the brackets, if there are any.
func inside(text string) string {
	if text == null {
		return ""
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return text[1 : len(text)-1]
	}
	return text
}

const null = "null"

// valueSize returns the length of the value that a text begins with.
func valueSize(text string) int {
	switch text[0] {
	case '"':
		return stringSize(text)
	case '{', '[':
		for at, depth := 0, 0; ; at++ {
			switch text[at] {
			case '"':
				at += stringSize(text[at:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
		}
	}
	if at := strings.IndexAny(text, ",}]"); at >= 0 {
		return at
	}
	return len(text)
}

// stringSize returns the length of the string that a text begins with.
func stringSize(text string) int {
	for at := 1; ; at++ {
		at += strings.IndexByte(text[at:], '"')
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}
