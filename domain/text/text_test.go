package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/text"
)

func TestNamesAreNormalizedTrimmedAndMeasuredInCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, want, code string }{
		{raw: "Acme", want: "Acme"},
		{raw: "  Acme  Inc. \u00a0\u3000", want: "Acme  Inc."},
		{raw: "Cafe\u0301", want: "Caf\u00e9"},
		{raw: strings.Repeat("e\u0301", 10), want: strings.Repeat("\u00e9", 10)},
		{raw: strings.Repeat("\U0001f600", 10), want: strings.Repeat("\U0001f600", 10)},
		{raw: " " + strings.Repeat("x", 10) + " ", want: strings.Repeat("x", 10)},
		{raw: "\u200f\u05d0", want: "\u200f\u05d0"},

		{raw: "", code: fault.Required},
		{raw: " \t\n ", code: fault.Required},
		{raw: strings.Repeat("x", 11), code: fault.TooLong},
		{raw: strings.Repeat("\U0001f600", 11), code: fault.TooLong},
		{raw: "a\x00b", code: fault.InvalidCharacters},
		{raw: "a\tb", code: fault.InvalidCharacters},
		{raw: "a\nb", code: fault.InvalidCharacters},
		{raw: "a\x1bb", code: fault.InvalidCharacters},
		{raw: "a\x7fb", code: fault.InvalidCharacters},
		{raw: "a\xff", code: fault.InvalidCharacters},
		{raw: "a\u0085b", code: fault.InvalidCharacters},
		{raw: "a\u2028b", code: fault.InvalidCharacters},
		{raw: "a\u2029b", code: fault.InvalidCharacters},
		{raw: "a\u202ab", code: fault.InvalidCharacters},
		{raw: "a\u202eb", code: fault.InvalidCharacters},
		{raw: "a\u2066b", code: fault.InvalidCharacters},
		{raw: "a\u2069b", code: fault.InvalidCharacters},
		{raw: "\x00" + strings.Repeat("x", 11), code: fault.InvalidCharacters},
	} {
		name, faults := text.Name("name", c.raw, 10)
		if code := codeOf(t, faults); code != c.code || code == "" && name != c.want {
			t.Errorf("%+q: %+q, code %q; want %+q, code %q", c.raw, name, code, c.want, c.code)
		}
	}
}

func TestProseHasLinesAndNoOtherControlCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, want, code string }{
		{raw: "", want: ""},
		{raw: " a\r\n\tb\n", want: " a\r\n\tb\n"},
		{raw: "Cafe\u0301", want: "Caf\u00e9"},
		{raw: "\u202ea", want: "\u202ea"},
		{raw: strings.Repeat("e\u0301", 10), want: strings.Repeat("\u00e9", 10)},

		{raw: strings.Repeat("x", 11), code: fault.TooLong},
		{raw: "a\x00", code: fault.InvalidCharacters},
		{raw: "a\x0bb", code: fault.InvalidCharacters},
		{raw: "a\u0085b", code: fault.InvalidCharacters},
	} {
		prose, faults := text.Prose("description", c.raw, 10)
		if code := codeOf(t, faults); code != c.code || code == "" && prose != c.want {
			t.Errorf("%+q: %+q, code %q; want %+q, code %q", c.raw, prose, code, c.want, c.code)
		}
	}
}

func TestPlainNamesAreReadAsAllOthersAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringOf(rapid.RuneFrom([]rune(" !aZ~\t\n\x00\x7f"))).Draw(t, "raw")
		want, code := strings.TrimSpace(raw), ""
		switch {
		case strings.ContainsAny(want, "\t\n\x00\x7f"):
			code = fault.InvalidCharacters
		case want == "":
			code = fault.Required
		case len(want) > 5:
			code = fault.TooLong
		}
		name, faults := text.Name("name", raw, 5)
		if name != want || (len(faults) > 0) != (code != "") || len(faults) > 0 && faults[0].Code != code {
			t.Fatalf("%q, %v; want %q, %s", name, faults, want, code)
		}
	})
}

func TestFoldForgetsCaseAndSpelling(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"Sales", "sALES"},
		{"STRASSE", "straße"},
		{"Σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"Cafe\u0301", "CAF\u00c9"},
		{"\u212aelvin", "kelvin"}, // the Kelvin sign
	} {
		if text.Fold(same[0]) != text.Fold(same[1]) {
			t.Errorf("%q and %q fold to %q and %q", same[0], same[1], text.Fold(same[0]), text.Fold(same[1]))
		}
	}
	if text.Fold("resume") == text.Fold("résumé") {
		t.Error("accents are not case")
	}
}

func TestIsSlug(t *testing.T) {
	t.Parallel()
	for slug, want := range map[string]bool{
		"a":                            true,
		"7":                            true,
		"acme-2":                       true,
		"a-b-c":                        true,
		strings.Repeat("a", 63):        true,
		strings.Repeat("a", 64):        false,
		strings.Repeat("a-", 31) + "a": true,
		"":                             false,
		"-":                            false,
		"-a":                           false,
		"a-":                           false,
		"a--b":                         false,
		"Acme":                         false,
		"a b":                          false,
		"a_b":                          false,
		"a.b":                          false,
		"é":                            false,
		"a\n":                          false,
		"a\x00":                        false,
		"٣":                            false, // a digit, but not of ASCII
	} {
		if text.IsSlug(slug) != want {
			t.Errorf("%q: %v", slug, !want)
		}
	}
}

func TestSlugsAreDerivedFromNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Sales":                        "sales",
		"  Research & Development ":    "research-development",
		"Zoë's Größe":                  "zoe-s-grosse",
		"Отдел продаж":                 "otdel-prodazh",
		"R2-D2":                        "r2-d2",
		"---":                          "fallback",
		"😀":                            "fallback",
		strings.Repeat("x", 100):       strings.Repeat("x", 63),
		strings.Repeat("x", 62) + " y": strings.Repeat("x", 62),
	} {
		if got := text.Slug(name, "fallback"); got != want {
			t.Errorf("%q: %q; want %q", name, got, want)
		}
	}
}

func TestEveryDerivedSlugIsASlug(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if slug := text.Slug(name, "fallback"); !text.IsSlug(slug) {
			t.Fatalf("%q is no slug", slug)
		}
	})
}

func TestANameStaysWhatItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name, faults := text.Name("name", rapid.String().Draw(t, "raw"), 20)
		if faults != nil {
			return
		}
		if length := utf8.RuneCountInString(name); length < 1 || length > 20 {
			t.Fatalf("%+q has %d characters", name, length)
		}
		if again, faults := text.Name("name", name, 20); again != name || faults != nil {
			t.Fatalf("%+q becomes %+q, %v", name, again, faults)
		}
	})
}

// codeOf is the code of the one fault there may be.
func codeOf(t *testing.T, faults []fault.Field) string {
	t.Helper()
	switch {
	case len(faults) == 0:
		return ""
	case len(faults) > 1 || faults[0].Path == "" || !strings.Contains(faults[0].Message, faults[0].Path):
		t.Errorf("faults: %v", faults)
	}
	return faults[0].Code
}
