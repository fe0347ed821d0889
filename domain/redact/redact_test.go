package redact_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/redact"
)

// hide hides texts in chunks, and returns what is shown of each, and in the end.
func hide(texts map[string]string, chunks []string) (shown []string) {
	s := redact.New(texts).Stream()
	for _, chunk := range chunks {
		shown = append(shown, string(s.Next([]byte(chunk))))
	}
	return append(shown, string(s.Rest()))
}

func TestTextsAreHiddenHoweverTheyArrive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 8, -1)
		hidden := rapid.MapOfN(text, rapid.StringOfN(rapid.RuneFrom([]rune("XY")), 0, 3, -1), 0, 4).Draw(t, "hidden")
		chunks := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab\nc")), 0, 12, -1), 0, 8).Draw(t, "chunks")
		shown := hide(hidden, chunks)
		delete(hidden, "")
		if got, want := strings.Join(shown, ""), replaced(hidden, strings.Join(chunks, "")); got != want {
			t.Errorf("shown is %q, want %q", got, want)
		}
		longest := 0
		for text := range hidden {
			longest = max(longest, len(text))
		}
		for n := range chunks { // less than the longest text is kept back
			all := strings.Join(chunks[:n+1], "")
			least := replaced(hidden, all[:max(0, len(all)-max(0, longest-1))])
			if got := strings.Join(shown[:n+1], ""); len(all) > 2*longest && longest > 0 && got == "" && least != "" {
				t.Errorf("after %q nothing is shown", all)
			}
		}
	})
}

// replaced replaces the longest of the texts at each place.
func replaced(hidden map[string]string, text string) string {
	var pairs []string
	for _, one := range slices.SortedFunc(maps.Keys(hidden), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		pairs = append(pairs, one, hidden[one])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func TestNoMoreIsKeptBackThanMayBeHidden(t *testing.T) {
	t.Parallel()
	hidden := map[string]string{"secret": "[secret A]", "secretive": "[secret B]"}
	chunks := []string{"no se", "cre", "t", "i", "x ", "secret", "ive", "secr", "secrets sec"}
	want := []string{"no ", "", "", "", "[secret A]ix ", "", "[secret B]", "", "secr[secret A]s ", "sec"}
	if got := hide(hidden, chunks); !slices.Equal(got, want) {
		t.Errorf("shown is %q, want %q", got, want)
	}
}

// encodings are ways in which programs write a value between other texts.
var encodings = map[string]func(before, value, after string) string{
	"as it is":     func(before, value, after string) string { return before + value + after },
	"URL query":    func(before, value, after string) string { return before + url.QueryEscape(value) + after },
	"URL path":     func(before, value, after string) string { return before + url.PathEscape(value) + after },
	"every byte":   func(before, value, after string) string { return before + percents("%%%02X", value) + after },
	"in lowercase": func(before, value, after string) string { return before + percents("%%%02x", value) + after },
	"base64":       based(base64.StdEncoding.EncodeToString),
	"unpadded":     based(base64.RawStdEncoding.EncodeToString),
	"base64url":    based(base64.URLEncoding.EncodeToString),
	"unpadded url": based(base64.RawURLEncoding.EncodeToString),
	"in lines": based(func(raw []byte) string {
		var lines []string
		for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(raw)), 10) {
			lines = append(lines, string(line))
		}
		return strings.Join(lines, "\r\n")
	}),
	"base64 in a URL":    based(func(raw []byte) string { return url.QueryEscape(base64.StdEncoding.EncodeToString(raw)) }),
	"base64 as PHP does": based(func(raw []byte) string { return strings.ReplaceAll(base64.StdEncoding.EncodeToString(raw), "/", `\/`) }),
	"base64 in lines in JSON": based(func(raw []byte) string {
		var lines strings.Builder
		for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(raw)), 10) {
			lines.WriteString(string(line) + `\\n`)
		}
		return lines.String()
	}),
	"as Windows ends lines": func(before, value, after string) string {
		return before + strings.ReplaceAll(value, "\n", "\r\n") + after
	},
}

func based(encode func([]byte) string) func(before, value, after string) string {
	return func(before, value, after string) string { return encode([]byte(before + value + after)) }
}

func percents(format, value string) (text string) {
	for _, b := range []byte(value) {
		text += fmt.Sprintf(format, b)
	}
	return text
}

func TestEncodedTextsAreHiddenHoweverTheyArrive(t *testing.T) {
	t.Parallel()
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				value := string(rapid.SliceOfN(rapid.Byte(), redact.Least, 60).Draw(t, "value"))
				around := rapid.StringMatching(`[a-z :]{0,7}`)
				text := encode(around.Draw(t, "before"), value, around.Draw(t, "after"))
				cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
				shown := strings.Join(hide(map[string]string{value: "[secret X]"}, []string{text[:cut], text[cut:]}), "")
				if !strings.Contains(shown, "[secret X]") {
					t.Errorf("%q shows %q", text, shown)
				}
			})
		})
	}
}

func TestTextsInJSONAreHiddenAndItStaysJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringN(redact.Least, 30, -1).Draw(t, "value")
		plain, err := json.Marshal(map[string]string{"a": "before " + value + " after"})
		if err != nil {
			t.Fatal(err)
		}
		var ascii bytes.Buffer // as Python writes it
		for _, char := range string(plain) {
			if char < 0x80 {
				ascii.WriteRune(char)
				continue
			}
			if char >= 0x10000 {
				fmt.Fprintf(&ascii, `\u%04X\u%04X`, 0xD800+(char-0x10000)>>10, 0xDC00+(char-0x10000)&0x3FF)
				continue
			}
			fmt.Fprintf(&ascii, `\u%04x`, char)
		}
		for _, encoded := range [][]byte{plain, ascii.Bytes()} {
			shown := redact.New(map[string]string{value: "[secret X]"}).JSON(encoded)
			if !json.Valid(shown) || !bytes.Contains(shown, []byte("[secret X]")) {
				t.Errorf("%s shows %s", encoded, shown)
			}
			for level := 2; level <= 3; level++ { // JSON within JSON
				text, err := json.Marshal(string(encoded))
				if err != nil {
					t.Fatal(err)
				}
				shown := redact.New(map[string]string{value: "[secret X]"}).JSON(text)
				if !json.Valid(shown) || !bytes.Contains(shown, []byte("[secret X]")) {
					t.Errorf("level %d: %s shows %s", level, text, shown)
				}
				encoded = text
			}
		}
	})
}

func TestWhatWouldTearJSONMakesAText(t *testing.T) {
	t.Parallel()
	hidden := redact.New(map[string]string{"1234": "[secret PIN]"})
	for encoded, want := range map[string]string{
		`{"n": 912345}`: `"{\"n\": 9[secret PIN]5}"`,
		`{"n": "1234"}`: `{"n": "[secret PIN]"}`,
		`{"n": 1}`:      `{"n": 1}`,
		`broken 1234`:   `broken [secret PIN]`,
	} {
		if got := string(hidden.JSON([]byte(encoded))); got != want {
			t.Errorf("%s shows %s", encoded, got)
		}
	}
	if got := hidden.JSON(nil); got != nil {
		t.Errorf("nothing shows %q", got)
	}
}

func TestNothingToHide(t *testing.T) {
	t.Parallel()
	for _, hidden := range []redact.Hidden{{}, redact.New(nil), redact.New(map[string]string{"": "[x]"})} {
		if got := hidden.Text("a text"); got != "a text" {
			t.Errorf("shown is %q", got)
		}
	}
	if got := redact.New(map[string]string{"abc": "[x]"}).Text("abc YWJj %61bc"); got != "[x] YWJj %61bc" {
		t.Errorf("shown is %q", got)
	}
}
