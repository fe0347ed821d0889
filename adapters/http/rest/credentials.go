package rest

import (
	"math"
	"time"

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

// seconds converts what was sent to a duration, if anything was. What a duration cannot hold becomes one that is beyond
// every bound.
func seconds(sent *int64) *time.Duration {
	if sent == nil {
		return nil
	}
	const longest = math.MaxInt64 / int64(time.Second)
	return new(time.Duration(max(-longest, min(*sent, longest))) * time.Second)
}
