package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Tidy returns a text of one line without what nobody means to write: each run of spaces, of whatever width and kind, is one space, none
// is at the ends, and characters that show nothing and join nothing are gone. What is to be refused stays: control characters within, and
// what is not UTF-8.
func Tidy(text string) string {
	if isTidy(text) || !utf8.ValidString(text) {
		return text
	}
	return collapsed(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.Is(needless, r):
			return -1
		}
		return r
	}, text))
}

// needless are characters that show nothing, and that no script needs: unlike the joiners, and the marks of the direction of writing.
var needless = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00AD, Hi: 0x00AD, Stride: 1}, // SOFT HYPHEN
		{Lo: 0x200B, Hi: 0x200B, Stride: 1}, // ZERO WIDTH SPACE
		{Lo: 0x2060, Hi: 0x2060, Stride: 1}, // WORD JOINER
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1}, // ZERO WIDTH NO-BREAK SPACE, the byte order mark
	},
	LatinOffset: 1,
}

// isTidy reports whether a text is visible ASCII with single spaces within, as most are in large imports.
func isTidy(text string) bool {
	if !isPlain(text) {
		return false
	}
	return text == "" || text[0] != ' ' && text[len(text)-1] != ' ' && !strings.Contains(text, "  ")
}

// Key returns what is equal for texts that a reader takes for the same: they differ in case, in the width or the form of letters (what
// NFKC makes one), in spaces, or in characters that show nothing. Of tidy texts without such forms it is Fold.
func Key(text string) string {
	if isTidy(text) {
		return strings.ToLower(text)
	}
	return collapsed(Letters(text))
}

// Letters returns what is equal for texts whose letters differ in case, in width or in form alone, and which may have characters that show
// nothing. Unicode folds Cherokee to upper case, but not all of it: lower case is the same for all.
func Letters(text string) string {
	if isPlain(text) {
		return strings.ToLower(text)
	}
	return Compatible(strings.ToLower(cases.Fold().String(Compatible(text))))
}

// Compatible returns a text in NFKC, in which a letter has one width and one form, without characters that show nothing. What is not UTF-8
// stays as it is.
func Compatible(text string) string {
	if isPlain(text) || !utf8.ValidString(text) {
		return text
	}
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		switch {
		case r == hangulFiller, r == halfwidthFiller:
			return ' '
		case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // is shown
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		case unicode.Is(blanks, r), unicode.Is(unicode.Zs, r): // NFKC leaves one of the latter alone
			return ' '
		}
		return r
	}, text))
}

// The fillers of Hangul that stand alone are as wide as a letter, and written for spaces. To Unicode they show nothing.
const (
	hangulFiller    = '\u3164'
	halfwidthFiller = '\uffa0'
)

// collapsed returns a text with single spaces instead of white space, and none at the ends.
func collapsed(text string) string {
	var to strings.Builder
	to.Grow(len(text))
	isSpace := false
	for _, r := range strings.TrimFunc(text, unicode.IsSpace) {
		if r == ' ' && isSpace {
			continue
		}
		isSpace = r == ' '
		to.WriteRune(r)
	}
	return to.String()
}
