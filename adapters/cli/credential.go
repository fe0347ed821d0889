package cli

import (
	"fmt"
	"time"

	"holdco/domain/access"
)

const expiryHelp = "expiry: a duration from now, such as 720h, a date such as 2027-04-11 (UTC), or a time\n" +
	"such as 2027-04-11T10:42:17Z"

// expiry reads --expires.
func (a *app) expiry(text string) (*time.Time, error) {
	now := a.program.Clock.Now()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		var in time.Duration
		in, err = time.ParseDuration(text)
		at = now.Add(in)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("--expires must be a duration such as 720h, a date such as 2027-04-11 "+
			"or a time such as 2027-04-11T10:42:17Z; it is %q", text)
	case !at.After(now):
		return nil, fmt.Errorf("--expires must lie in the future; it is %q", text)
	}
	return &at, nil
}

func checkGrace(grace time.Duration) error {
	if grace < 0 || grace > access.MostGrace {
		return fmt.Errorf("--grace must be from 0s to 720h; it is %s", grace)
	}
	return nil
}
