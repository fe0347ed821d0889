// Package deprecation is the rule of how long a part of an API stays after clients were told that it will go.
package deprecation

import (
	"fmt"
	"time"
)

// Months is how many months there are at least from the day since which something is deprecated to its sunset.
const Months = 6

// Notice says of a part of an API since when it is deprecated, and from when on it can be missing: its sunset. Both are the
// beginnings of days in UTC.
type Notice struct{ Since, Sunset time.Time }

// Parse reads a notice from two days, spelled as 2026-11-26. It refuses one that leaves clients less than Months.
func Parse(since, sunset string) (n Notice, err error) {
	if n.Since, err = time.Parse(time.DateOnly, since); err != nil {
		return Notice{}, fmt.Errorf("since when it is deprecated must be a day, such as 2026-11-26; it is %q", since)
	}
	if n.Sunset, err = time.Parse(time.DateOnly, sunset); err != nil {
		return Notice{}, fmt.Errorf("its sunset must be a day, such as 2027-05-26; it is %q", sunset)
	}
	if least := n.Since.AddDate(0, Months, 0); n.Sunset.Before(least) {
		return Notice{}, fmt.Errorf("its sunset must be %s or later, %d months after it was deprecated",
			least.Format(time.DateOnly), Months)
	}
	return n, nil
}

// Earliest is the notice of several parts that are used together: since the first of their days, and until the first sunset.
func Earliest(first Notice, more ...Notice) Notice {
	for _, n := range more {
		if n.Since.Before(first.Since) {
			first.Since = n.Since
		}
		if n.Sunset.Before(first.Sunset) {
			first.Sunset = n.Sunset
		}
	}
	return first
}
