package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// form is how a text may stand in what is written.
type form int

const (
	exact   form = iota
	percent      // each byte as it is, or as URLs escape it
	escaped      // each character as it is, or as JSON escapes it, JSON within JSON too
	wrapped      // base64, broken into lines anywhere, in a URL or in JSON too
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
	case wrapped:
		if strings.IndexByte("+/=", p.text[0]) >= 0 {
			first = append(first, '%', '\\')
		}
	}
	if p.text[0] == '\n' {
		first = append(first, '\r')
	}
	return first
}

// match returns how many bytes at the beginning of in it matches, and whether it may match more when in goes on. A line of the text may
// end as on Windows.
func (p *pattern) match(in []byte) (length int, mayGrow bool) {
	at := 0 // in in
	for done := 0; done < len(p.text); {
		read, isCut := 0, false
		switch {
		case p.form == wrapped && done > 0:
			read, isCut = lineBreaks(in[at:])
		case p.text[done] == '\n' && at < len(in):
			_, read, isCut = p.step("\r", in[at:])
		}
		if at += read; isCut || at == len(in) {
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

// lineBreaks returns how many bytes at the beginning of in break lines, as they are or escaped in JSON.
func lineBreaks(in []byte) (read int, isCut bool) {
	for read < len(in) {
		if in[read] == '\n' || in[read] == '\r' {
			read++
			continue
		}
		slashes := backslashes(in[read:])
		switch {
		case slashes == 0 || slashes > mostBackslashes:
			return read, false
		case read+slashes == len(in):
			return read, true
		case in[read+slashes] != 'n' && in[read+slashes] != 'r':
			return read, false
		}
		read += slashes + 1
	}
	return read, false
}

// mostBackslashes bounds how many backslashes escape one character: those of JSON within JSON within JSON, where eight stand for one.
const mostBackslashes = 7

func backslashes(in []byte) (count int) {
	for count < len(in) && in[count] == '\\' {
		count++
	}
	return count
}

// step reads one byte or character of a text at the beginning of in: so many bytes of the text and of in, 0 when it is not there.
// Neither is empty. IsCut reports that in ends before that is known.
func (p *pattern) step(text string, in []byte) (of, read int, isCut bool) {
	isBase64Sign := p.form == wrapped && strings.IndexByte("+/=", text[0]) >= 0
	switch {
	case in[0] == '%' && (p.form == percent || isBase64Sign):
		if len(in) < len("%00") {
			return 0, 0, true
		}
		var decoded [1]byte
		if _, err := hex.Decode(decoded[:], in[1:3]); err == nil && decoded[0] == text[0] {
			return 1, 3, false
		}
	case p.form == percent && in[0] == '+' && text[0] == ' ':
		return 1, 1, false
	case in[0] == '\\' && (p.form == escaped || isBase64Sign):
		return unescape(text, in)
	}
	if in[0] != text[0] {
		return 0, 0, false
	}
	return 1, 1, false
}

// unescape is step where in begins with backslashes: those of the text, each of which may have become several, those that escape its
// next character, or both.
func unescape(text string, in []byte) (of, read int, isCut bool) {
	own := backslashes([]byte(text))
	slashes := backslashes(in)
	switch {
	case slashes < own && slashes < len(in), slashes > (1+mostBackslashes)*own+mostBackslashes:
		return 0, 0, false
	case own == len(text) && slashes >= own:
		for read = own; 2*read <= slashes; {
			read *= 2 // escaped once more; what is left escapes what follows the text
		}
		return own, read, false
	case slashes == len(in):
		return 0, 0, true
	}
	of, read, isCut = unescapeOne(text[own:], in[slashes:])
	switch {
	case read > 0 && slashes > own:
		return own + of, slashes + read, false
	case own > 0:
		return own, slashes, false // the next character is not escaped
	}
	return 0, 0, isCut
}

// unescapeOne is unescape for one character, after the backslashes.
func unescapeOne(text string, in []byte) (of, read int, isCut bool) {
	char, size := utf8.DecodeRuneInString(text)
	if in[0] != 'u' {
		if at := strings.IndexByte(`"/bfnrt`, in[0]); at >= 0 && "\"/\b\f\n\r\t"[at] == text[0] {
			return 1, 1, false
		}
		return 0, 0, false
	}
	for n, unit := range utf16.AppendRune(nil, char) {
		if n > 0 {
			read += backslashes(in[read:])
		}
		want := fmt.Sprintf("u%04x", unit)
		for i := range want {
			switch {
			case read == len(in):
				return 0, 0, true
			case i == 0 && in[read] != 'u', i > 0 && lower(in[read]) != want[i]:
				return 0, 0, false
			}
			read++
		}
	}
	return size, read, false
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
