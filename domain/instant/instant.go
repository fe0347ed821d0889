package instant

import "time"

const layout = "2006-01-02T15:04:05.000Z"

// Format spells t, such as 2026-04-11T10:42:17.000Z.
func Format(t time.Time) string { return t.UTC().Format(layout) }

// Optional spells t, or gives nil for the zero time.
func Optional(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := Format(t)
	return &text
}

// Cut drops what the API cannot show: everything below a millisecond, and the time zone.
func Cut(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
