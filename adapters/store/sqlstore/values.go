package sqlstore

import (
	"time"

	instants "holdco/domain/instant"
)

// Times are kept as milliseconds since 1970, and as NULL where the domain has the zero time.

func millis(t time.Time) int64 { return t.UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// millisFrom is the first millisecond that is not before t.
func millisFrom(t time.Time) int64 { return instants.MillisFrom(t) }

func optionalMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := millis(t)
	return &ms
}

func optionalInstant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return instant(*ms)
}

// flag converts a boolean to the 1 or 0 that a column holds.
func flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// orZero is 0 where the store has NULL.
func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
