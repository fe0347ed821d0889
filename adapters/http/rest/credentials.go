package rest

import (
	"math"
	"time"
)

// seconds converts what was sent to a duration, if anything was. What a duration cannot hold becomes one that is beyond
// every bound.
func seconds(sent *int64) *time.Duration {
	if sent == nil {
		return nil
	}
	const longest = math.MaxInt64 / int64(time.Second)
	return new(time.Duration(max(-longest, min(*sent, longest))) * time.Second)
}
