package programs

import (
	"strings"
	"unicode/utf8"

	"holdco/ports/outbound"
)

// lastOutput keeps the last bytes that were written to it.
type lastOutput struct{ kept []byte }

func (o *lastOutput) Write(written []byte) (int, error) {
	o.kept = append(o.kept, written...)
	if len(o.kept) > 2*outbound.MostOutput {
		o.kept = append(o.kept[:0], o.kept[len(o.kept)-outbound.MostOutput:]...)
	}
	return len(written), nil
}

// text returns the last outbound.MostOutput bytes as valid UTF-8. It may be fewer, because no character is cut.
func (o *lastOutput) text() string {
	text := strings.ToValidUTF8(string(cut(o.kept)), string(utf8.RuneError))
	return string(cut([]byte(text))) // a replacement is longer than what it replaces
}

// cut returns the last outbound.MostOutput bytes, without the rest of a character whose beginning it cuts off.
func cut(text []byte) []byte {
	start := len(text) - outbound.MostOutput
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
