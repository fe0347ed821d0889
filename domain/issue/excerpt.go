package issue

import (
	"encoding/json"
	"strings"
)

// Excerpt returns a result, JSON or empty, as it is unless it is longer than max bytes. A longer one becomes a JSON text: the beginning of
// the text that it is, or of its JSON.
func Excerpt(result string, max int) (excerpt string, isCut bool) {
	if len(result) <= max {
		return result, false
	}
	var text string
	if json.Unmarshal([]byte(result), &text) != nil {
		text = result
	}
	if len(text) > max {
		text, isCut = strings.ToValidUTF8(text[:max], ""), true
	}
	encoded, _ := json.Marshal(text) // text alone cannot fail
	return string(encoded), isCut
}
