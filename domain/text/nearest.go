package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Nearest returns that of some names which is spelled most like what was sent, in upper or lower case: one that begins with it, if there
// is any. It reports whether it may be what was meant: it begins so, or at most half of the characters differ. Without names it returns
// an empty text.
func Nearest(sent string, names []string) (name string, maybe bool) {
	if len(names) == 0 {
		return "", false
	}
	sent = strings.ToLower(sent)
	distance := func(to string) int { return levenshtein.ComputeDistance(sent, strings.ToLower(to)) }
	begins := func(to string) bool { return sent != "" && strings.HasPrefix(strings.ToLower(to), sent) }
	name = slices.MinFunc(names, func(a, b string) int {
		switch {
		case begins(a) == begins(b):
			return distance(a) - distance(b)
		case begins(a):
			return -1
		}
		return 1
	})
	return name, begins(name) || 2*distance(name) <= utf8.RuneCountInString(sent) && sent != ""
}
