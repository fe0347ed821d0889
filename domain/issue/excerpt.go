package issue

import (
	"encoding/json"
	"strings"
)

// Excerpt returns a result, JSON or empty, as it is unless it is longer than size bytes. A longer one becomes a JSON text: the beginning of
// the text that it is, or of its JSON.
func Excerpt(result string, size int) (excerpt string, isCut bool) {
	if len(result) <= size {
		return result, false
	}
	var text string
	if json.Unmarshal([]byte(result), &text) != nil {
		text = result
	}
	if len(text) > size {
		text, isCut = strings.ToValidUTF8(text[:size], ""), true
	}
	encoded, _ := json.Marshal(text) // text alone cannot fail
	return string(encoded), isCut
}
