package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"holdco/domain/fault"
)

// SlugLength bounds the length of a slug.
const SlugLength = 63

// Name returns raw as a name: normalized to NFC and trimmed. A name has 1 to most characters (code points), at least
// one of them visible, and no control characters, line breaks or bidirectional overrides. The paths of faults are path.
func Name(path, raw string, most int) (string, []fault.Field) {
	if isPlain(raw) && raw != "" && len(raw) <= most && raw[0] != ' ' && raw[len(raw)-1] != ' ' {
		return raw, nil // the fast path of most texts in large imports
	}
	name := strings.TrimSpace(norm.NFC.String(raw))
	switch {
	case !utf8.ValidString(raw) || strings.ContainsFunc(name, forbiddenInName):
		return name, []fault.Field{fault.Fieldf(path, fault.InvalidCharacters,
			"%s must be UTF-8, and must not hold control characters, line breaks or bidirectional overrides", path)}
	case IsBlank(name):
		return name, []fault.Field{fault.Fieldf(path, fault.Required, "%s must not be blank", path)}
	}
	return name, tooLong(path, name, most)
}

// Prose returns raw as a text of any number of lines, normalized to NFC. It has at most most characters (code points),
// and no control characters but tabs and line breaks. The paths of faults are path.
func Prose(path, raw string, most int) (string, []fault.Field) {
	prose := norm.NFC.String(raw)
	if !utf8.ValidString(raw) || strings.ContainsFunc(prose, forbiddenInProse) {
		return prose, []fault.Field{fault.Fieldf(path, fault.InvalidCharacters,
			"%s must be UTF-8, and must not hold control characters other than tabs and line breaks", path)}
	}
	return prose, tooLong(path, prose, most)
}

// Fold returns a key that is equal for texts that differ in case only.
func Fold(text string) string {
	if isPlain(text) {
		return strings.ToLower(text)
	}
	return norm.NFC.String(cases.Fold().String(text))
}

// IsSlug reports whether text is a slug: lower-case ASCII letters and digits in groups joined by single hyphens, at
// most SlugLength characters.
func IsSlug(text string) bool {
	if len(text) > SlugLength {
		return false
	}
	for group := range strings.SplitSeq(text, "-") {
		if group == "" || strings.ContainsFunc(group, notOfSlug) {
			return false
		}
	}
	return true
}

// Slug derives a slug from a name, transliterated to ASCII; if nothing of the name is left, it returns fallback.
func Slug(name, fallback string) string {
	groups := strings.FieldsFunc(strings.ToLower(unidecode.Unidecode(name)), notOfSlug)
	slug := strings.Join(groups, "-")
	if len(slug) > SlugLength {
		slug = strings.TrimRight(slug[:SlugLength], "-")
	}
	if slug == "" {
		return fallback
	}
	return slug
}

// isPlain reports whether text consists of visible ASCII characters and spaces.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func tooLong(path, text string, most int) []fault.Field {
	if length := utf8.RuneCountInString(text); length > most {
		return []fault.Field{fault.Fieldf(path, fault.TooLong, "%s has %d characters; at most %d are allowed", path, length, most)}
	}
	return nil
}

func notOfSlug(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }

func forbiddenInName(r rune) bool {
	const lineSeparator, paragraphSeparator = '\u2028', '\u2029'
	return unicode.IsControl(r) || unicode.Is(overrides, r) || r == lineSeparator || r == paragraphSeparator
}

func forbiddenInProse(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
}

// overrides are the explicit directional formatting characters of Unicode Standard Annex 9, sections 2.1 to 2.5.
var overrides = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x202A, Hi: 0x202E, Stride: 1},
	{Lo: 0x2066, Hi: 0x2069, Stride: 1},
}}
