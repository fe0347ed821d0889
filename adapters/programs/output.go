package programs

import (
	"strings"
	"unicode/utf8"
)

// lastOutput keeps the last bytes that were written to it.
type lastOutput struct {
	max  int // bytes
	kept []byte
}

func (o *lastOutput) Write(written []byte) (int, error) {
	o.kept = append(o.kept, written...)
	if len(o.kept) > 2*o.max {
		o.kept = append(o.kept[:0], o.kept[len(o.kept)-o.max:]...)
	}
	return len(written), nil
}

// text returns the last bytes as valid UTF-8. It may be fewer, because no character is cut.
func (o *lastOutput) text() string {
	text := strings.ToValidUTF8(string(cut(o.kept, o.max)), string(utf8.RuneError))
	return string(cut([]byte(text), o.max)) // a replacement is longer than what it replaces
}

// cut returns the last bytes of a text, without the rest of a character whose beginning it cuts off.
func cut(text []byte, size int) []byte {
	start := len(text) - size
	if start <= 0 {
		return text
	}
	for range utf8.UTFMax - 1 {
		if utf8.RuneStart(text[start]) {
			break
		}
		start++
	}
	return text[start:]
}
