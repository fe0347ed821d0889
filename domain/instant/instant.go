package instant

import (
	"strings"
	"time"
)

const layout = "2006-01-02T15:04:05.000Z"

// Format formats t, such as 2026-04-11T10:42:17.000Z.
func Format(t time.Time) string { return string(Append(nil, t)) }

// Append appends what Format returns.
func Append(to []byte, t time.Time) []byte { return t.UTC().AppendFormat(to, layout) }

// Optional formats t, or returns nil for the zero time.
func Optional(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := Format(t)
	return &text
}

// Cut truncates t to what the API shows: UTC and milliseconds.
func Cut(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// MillisFrom returns the first whole millisecond since 1970 that is not before t.
func MillisFrom(t time.Time) int64 { return t.Add(time.Millisecond - time.Nanosecond).UnixMilli() }

// Parse parses a timestamp of RFC 3339, and reports whether it is one. Unlike time.Parse it takes no hour of one digit, no comma, and
// no offset of a day.
func Parse(text string) (time.Time, bool) {
	const day = 24 * 60 * 60
	t, err := time.Parse(time.RFC3339, text)
	_, offset := t.Zone()
	return t, err == nil && strings.HasPrefix(text, t.Format("2006-01-02T15:04:05")) && !strings.Contains(text, ",") &&
		offset < day && offset > -day
}
