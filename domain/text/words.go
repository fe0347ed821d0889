package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of the characters of a search, without the spaces around them.
const ShortestSearch, LongestSearch = 2, 200

// Words is what a search looks for, as In compares it: each word has to be found. nil: there is no search, and everything is found.
type Words []string

// ParseWords returns the words of a search, and false if it has fewer characters than ShortestSearch or more than LongestSearch.
func ParseWords(search string) (Words, bool) {
	search = strings.TrimSpace(search)
	if n := utf8.RuneCountInString(search); n < ShortestSearch || n > LongestSearch {
		return nil, false
	}
	return strings.Fields(foldForSearch(search)), true
}

// In reports whether each word is in one of some texts, anywhere in it, whatever the case of either.
func (w Words) In(texts ...string) bool {
	folded := foldForSearch(strings.Join(texts, "\n")) // no word has a line break
	return !slices.ContainsFunc(w, func(word string) bool { return !strings.Contains(folded, word) })
}

// foldForSearch is Fold, but takes the dotted and the dotless i of Turkish for one letter: Fold tells them apart, for their case
// depends on the language, and a search for istanbul would not find İstanbul.
func foldForSearch(text string) string {
	if isPlain(text) {
		return strings.ToLower(text)
	}
	return oneI.Replace(Fold(text))
}

var oneI = strings.NewReplacer("i\u0307", "i", "ı", "i")
