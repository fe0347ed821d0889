package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"holdco/domain/access"
)

const expiryHelp = "expiry: a duration from now, such as 720h, a date such as 2027-04-11 (UTC), or a time\n" +
	"such as 2027-04-11T10:42:17Z"

// expiry reads --expires.
func (a *app) expiry(text string) (*time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		var in time.Duration
		in, err = time.ParseDuration(text)
		at = a.program.Clock.Now().Add(in)
	}
	if err != nil {
		return nil, fmt.Errorf("--expires must be a duration such as 720h, a date such as 2027-04-11 "+
			"or a time such as 2027-04-11T10:42:17Z; it is %q", text)
	}
	return &at, nil
}

// rotationFlags adds --grace, by default usual, for what a rotation replaces.
func rotationFlags(flags *pflag.FlagSet, replaced string, usual time.Duration) *access.Rotation {
	rotation := access.Rotation{Grace: &usual}
	flags.DurationVar(rotation.Grace, "grace", usual,
		fmt.Sprintf("how long the old %s stays valid, at most %dh", replaced, int(access.MostGrace.Hours())))
	setsField(flags, "grace", "graceSeconds")
	return &rotation
}
