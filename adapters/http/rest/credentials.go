package rest

import (
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
)

// expiry reads when a credential is to expire, if that was sent, and notes what is wrong with its form.
func expiry(sent *string, problems *fault.Problems) *time.Time {
	if sent == nil {
		return nil
	}
	expiresAt, err := time.Parse(time.RFC3339, *sent)
	if err != nil {
		problems.Add(fault.Fieldf("expiresAt", fault.InvalidFormat,
			"expiresAt must be an instant of RFC 3339, such as 2027-04-11T00:00:00Z"))
		return nil
	}
	return &expiresAt
}

// grace is how long the old value of a rotated credential stays valid. Seconds that overflow a time.Duration are cut to
// a value that is out of range too.
func grace(seconds *int64, usual time.Duration) time.Duration {
	if seconds == nil {
		return usual
	}
	const beyond = int64(access.MostGrace/time.Second) + 1
	return time.Duration(max(-1, min(*seconds, beyond))) * time.Second
}
