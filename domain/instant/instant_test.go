package instant_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/instant"
)

func TestInstantsAreSpelledInUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 2*60*60)
	for want, at := range map[string]time.Time{
		"2026-04-11T10:42:17.000Z": time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC),
		"2026-04-11T08:42:17.120Z": time.Date(2026, 4, 11, 10, 42, 17, 120_000_000, east),
		"2025-12-31T23:59:59.999Z": time.Date(2026, 1, 1, 1, 59, 59, 999_999_999, east),
		"0001-01-01T00:00:00.000Z": {},
	} {
		if got := instant.Format(at); got != want {
			t.Errorf("%v: %s; want %s", at, got, want)
		}
	}
}

func TestTheZeroTimeIsNone(t *testing.T) {
	t.Parallel()
	if got := instant.Optional(time.Time{}); got != nil {
		t.Errorf("%s", *got)
	}
	if got := instant.Optional(time.UnixMilli(1)); got == nil || *got != "1970-01-01T00:00:00.001Z" {
		t.Errorf("%v", got)
	}
}

func TestACutInstantIsWhatTheAPIShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(0, 1<<33).Draw(t, "seconds")
		at := time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).In(time.FixedZone("", 3600))
		cut := instant.Cut(at)
		if cut.Location() != time.UTC || cut.After(at) || at.Sub(cut) >= time.Millisecond || instant.Cut(cut) != cut {
			t.Fatalf("%v is cut to %v", at, cut)
		}
		if again, err := time.Parse(time.RFC3339, instant.Format(at)); err != nil || !again.Equal(cut) {
			t.Fatalf("%v is shown as %v, %v", cut, again, err)
		}
	})
}

func TestOnlyTimestampsOfRFC3339AreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-04-11T10:42:17Z":         "2026-04-11T10:42:17.000Z",
		"2026-04-11T10:42:17.5+02:00":  "2026-04-11T08:42:17.500Z",
		"2026-04-11T10:42:17.99-23:59": "2026-04-12T10:41:17.990Z",
		"0001-01-01T00:00:00Z":         "0001-01-01T00:00:00.000Z",
		"2026-02-29T00:00:00Z":         "",
		"2026-04-11":                   "",
		"2026-04-11T1:42:17Z":          "",
		"2026-04-11T10:42:17,5Z":       "",
		"2026-04-11T10:42:17":          "",
		"2026-04-11T10:42:17+24:00":    "",
		"2026-04-11T10:42:17 02:00":    "",
		" 2026-04-11T10:42:17Z":        "",
		"yesterday":                    "",
		"":                             "",
	} {
		got, ok := instant.Parse(text)
		if ok != (want != "") || ok && instant.Format(got) != want {
			t.Errorf("%q is read as %v, %v; want %q", text, got, ok, want)
		}
	}
}
