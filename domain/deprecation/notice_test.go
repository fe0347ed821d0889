package deprecation

import (
	"strings"
	"testing"
	"time"
)

func TestASunsetIsSixMonthsAfterTheDeprecationAtLeast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ since, sunset, refusal string }{
		{"2026-11-26", "2027-05-26", ""},
		{"2026-11-26", "2029-01-01", ""},
		{"2026-11-26", "2027-05-25", "must be 2027-05-26 or later"},
		{"2026-11-26", "2026-11-26", "must be 2027-05-26 or later"},
		{"2026-08-31", "2027-02-28", "must be 2027-03-03 or later"}, // there is no 31 February
		{"2026-11-26", "", `its sunset must be a day, such as 2027-05-26; it is ""`},
		{"", "2027-05-26", `since when it is deprecated must be a day, such as 2026-11-26; it is ""`},
		{"2026-11-26T00:00:00Z", "2027-05-26", "since when"},
		{"2026-11-26", "2027-02-30", "its sunset must be a day"},
	} {
		n, err := Parse(c.since, c.sunset)
		switch {
		case c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)):
			t.Errorf("%s to %s: %v, want %q", c.since, c.sunset, err, c.refusal)
		case c.refusal == "" && (err != nil || n.Since.Format(time.DateOnly) != c.since || n.Sunset.Format(time.DateOnly) != c.sunset):
			t.Errorf("%s to %s: %v, %v", c.since, c.sunset, n, err)
		}
	}
}

func TestWhatIsUsedTogetherHasTheEarliestOfItsDays(t *testing.T) {
	t.Parallel()
	day := func(month time.Month) time.Time { return time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC) }
	early, late := Notice{day(2), day(12)}, Notice{day(3), day(10)}
	both := Notice{day(2), day(10)}
	if Earliest(early, late) != both || Earliest(late, early) != both || Earliest(early) != early {
		t.Errorf("%v and %v make %v, and in the other order %v", early, late, Earliest(early, late), Earliest(late, early))
	}
}
