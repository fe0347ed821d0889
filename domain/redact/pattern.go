package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// form is how a text may stand in what is written.
type form int

const (
	exact   form = iota
	percent      // each byte as it is, or as URLs escape it
	escaped      // each character as it is, or as JSON escapes it
	wrapped      // as it is, but broken into lines anywhere
)

// pattern matches one text in one form.
type pattern struct {
	form  form
	text  string
	least int // how many bytes of the text suffice
	shown []byte
}

// firsts are the bytes that what it matches can begin with.
func (p *pattern) firsts() []byte {
	first := []byte{p.text[0]}
	switch p.form {
	case percent:
		first = append(first, '%')
		if p.text[0] == ' ' {
			first = append(first, '+')
		}
	case escaped:
		first = append(first, '\\')
	}
	return first
}

// match returns how many bytes at the beginning of in it matches, and whether it may match more when in goes on.
func (p *pattern) match(in []byte) (length int, mayGrow bool) {
	at := 0 // in in
	for done := 0; done < len(p.text); {
		if p.form == wrapped && done > 0 {
			for at < len(in) && (in[at] == '\n' || in[at] == '\r') {
				at++
			}
		}
		if at == len(in) {
			return length, true
		}
		of, read, isCut := p.step(p.text[done:], in[at:])
		if isCut {
			return length, true
		}
		if read == 0 {
			return length, false
		}
		done, at = done+of, at+read
		if done >= p.least {
			length = at
		}
	}
	return length, false
}

// step reads one byte or character of a text at the beginning of in: so many bytes of the text and of in, 0 when it is not there.
// Neither is empty. IsCut reports that in ends before that is known.
func (p *pattern) step(text string, in []byte) (of, read int, isCut bool) {
	switch {
	case p.form == percent && in[0] == '%':
		if len(in) < len("%00") {
			return 0, 0, true
		}
		var decoded [1]byte
		if _, err := hex.Decode(decoded[:], in[1:3]); err == nil && decoded[0] == text[0] {
			return 1, 3, false
		}
	case p.form == percent && in[0] == '+' && text[0] == ' ':
		return 1, 1, false
	case p.form == escaped && in[0] == '\\':
		return unescape(text, in)
	}
	if in[0] != text[0] {
		return 0, 0, false
	}
	return 1, 1, false
}

// unescape is step for a character that is escaped.
func unescape(text string, in []byte) (of, read int, isCut bool) {
	const short, long = len(`\n`), len(`\u0000`)
	if len(in) < short {
		return 0, 0, true
	}
	char, size := utf8.DecodeRuneInString(text)
	if in[1] != 'u' {
		if at := strings.IndexByte(`"\/bfnrt`, in[1]); at >= 0 && "\"\\/\b\f\n\r\t"[at] == text[0] {
			return 1, short, false
		}
		return 0, 0, false
	}
	want := jsonEscape(char)
	for n := range want {
		switch {
		case n >= len(in):
			return 0, 0, true
		case n%long >= short && lower(in[n]) != want[n] || n%long < short && in[n] != want[n]:
			return 0, 0, false
		}
	}
	return size, len(want), false
}

// jsonEscape is a character as \u and its code, twice beyond the first plane.
func jsonEscape(char rune) string {
	const digits = "0123456789abcdef"
	unit := func(code rune) string {
		return `\u` + string([]byte{digits[code>>12&15], digits[code>>8&15], digits[code>>4&15], digits[code&15]})
	}
	if char < 0x10000 {
		return unit(char)
	}
	char -= 0x10000
	return unit(0xD800+char>>10) + unit(0xDC00+char&0x3FF)
}

func lower(digit byte) byte {
	if digit >= 'A' && digit <= 'F' {
		return digit + 'a' - 'A'
	}
	return digit
}

// code is a text in base64: of its characters, those after the first least depend on what follows the text.
type code struct {
	text  string
	least int
}

// based returns a text in base64, as it stands in what was encoded with 0, 1 and 2 bytes before it, or 3, and so on. A character
// that encodes bits of what is before the text is left out.
func based(text string) (codes []code) {
	const bits = 6 // of a character
	for before := range 3 {
		raw := append(make([]byte, before), text...)
		skipped := (8*before + bits - 1) / bits
		whole := 8*len(raw)/bits - skipped
		standard := base64.StdEncoding.EncodeToString(raw)[skipped:]
		codes = append(codes, code{standard, whole})
		if other := base64.URLEncoding.EncodeToString(raw)[skipped:]; other != standard {
			codes = append(codes, code{other, whole})
		}
	}
	return codes
}
