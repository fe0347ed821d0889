package text_test

import (
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/text"
)

func TestTextsThatLookTheSameHaveOneKey(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "", "Acme": "acme", " Acme  Inc. ": "acme inc.", "Ａｃｍｅ": "acme", "Acme\u00a0\u3000Inc.": "acme inc.", "ﬁne": "fine",
		"Straße": "strasse", "A\u200b\u200c\u200d\u00ad\u2060\ufeff\u200f\u034f\ufe0fB": "ab",
		"ㅤA": "a", "A\u2800B": "a b", "A\u3164B": "a b", "A \uffa0B\u3164": "a b", "A\u1680B": "a b", "A\t\nB": "a\t\nb",
		"e\u0301": "é", "\u0600A": "\u0600a",
	} {
		if got := text.Key(raw); got != want {
			t.Errorf("%+q: %+q; want %+q", raw, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.String().Draw(t, "raw")
		key := text.Key(raw)
		tidy := text.Tidy(raw)
		if again := text.Tidy(tidy); again != tidy {
			t.Fatalf("%+q: %+q, and of that %+q", raw, tidy, again)
		}
		if got := text.Key(tidy); got != key {
			t.Fatalf("%+q: %+q; of the tidy text %+q", raw, key, got)
		}
	})
}

func TestWhatIsNotUTF8StaysSo(t *testing.T) {
	t.Parallel()
	const broken = "a\xffb\u200b"
	if got := text.Compatible(broken); got != broken {
		t.Errorf("%+q", got)
	}
}
