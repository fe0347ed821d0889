package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"holdco/domain/lead"
)

var (
	errUTF16 = errors.New(`the file is in UTF-16, as what Excel calls "Unicode Text" is: save it as "CSV UTF-8", ` +
		"or pass --encoding utf-16 (encoding=utf-16 in a URL)")
	errWorkbook = errors.New(`the file is an Excel workbook or another ZIP archive: save its sheet as "CSV UTF-8", and import that`)
)

// decoded returns the text of a file in UTF-8. It fails when the beginning shows that it is in another encoding than was said.
func decoded(from *bufio.Reader, encoding string) (io.Reader, error) {
	begin, _ := from.Peek(4)
	switch {
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")):
		return nil, errWorkbook
	case encoding == lead.UTF16:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(from), nil
	case isUTF16(begin):
		return nil, errUTF16
	case encoding == lead.Windows1252:
		return charmap.Windows1252.NewDecoder().Reader(from), nil
	}
	return from, nil
}

// isUTF16 reports whether a file begins like one in UTF-16: with a byte order mark, or with two characters of ASCII.
func isUTF16(begin []byte) bool {
	if bytes.HasPrefix(begin, []byte("\xff\xfe")) || bytes.HasPrefix(begin, []byte("\xfe\xff")) {
		return true
	}
	return len(begin) == 4 && (begin[0] == 0) != (begin[1] == 0) && (begin[0] == 0) == (begin[2] == 0) && (begin[1] == 0) == (begin[3] == 0)
}

// isConverted reports whether a file with an encoding is converted to UTF-8.
func isConverted(encoding string) bool { return encoding == lead.UTF16 || encoding == lead.Windows1252 }

// notConverted says why a text that was converted cannot be read: decoders put U+FFFD in the place of bytes that stand for no character.
func notConverted(text []byte, from string) string {
	at := bytes.IndexRune(text, utf8.RuneError)
	if !isConverted(from) || at < 0 {
		return ""
	}
	return fmt.Sprintf("the line is not in %s: what is in the place of its character %d stands for none there", from,
		utf8.RuneCount(text[:at])+1)
}

// notUTF8 says why a text cannot be read, and what that quotes of it, or is empty.
func notUTF8(text []byte) (why, quoted string) {
	if utf8.Valid(text) {
		return "", ""
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	const around = 15 // bytes
	shown, _ := charmap.Windows1252.NewDecoder().Bytes(text[max(0, at-around):min(len(text), at+around)])
	quoted = strconv.Quote(string(bytes.ToValidUTF8(shown, nil)))
	return fmt.Sprintf("the line is not in UTF-8: its byte %d is 0x%02X. In Windows-1252, in which Excel saves CSV, that reads %s: "+
		`save the file as "CSV UTF-8", or pass --encoding windows-1252 (encoding=windows-1252 in a URL)`, at+1, text[at], quoted), quoted
}
