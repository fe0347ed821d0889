package text

import "unicode"

// IsBlank reports whether text shows nothing: it is empty, or has only spaces, format characters, combining marks
// without a base letter, and letters and symbols that are defined to be blank. Characters that are forbidden in names
// are not blank: they are refused, not ignored.
func IsBlank(text string) bool {
	for _, r := range text {
		if !showsNothing(r) {
			return false
		}
	}
	return true
}

func showsNothing(r rune) bool {
	switch {
	case r > ' ' && r <= '~':
		return false
	case unicode.IsSpace(r):
		return true
	case forbiddenInName(r), unicode.Is(unicode.Prepended_Concatenation_Mark, r): // the latter are shown
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.M, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, blanks)
}

// blanks are symbols without a glyph that have no Unicode property of their own.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},   // BRAILLE PATTERN BLANK
	R32: []unicode.Range32{{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}}, // MUSICAL SYMBOL NULL NOTEHEAD
}
