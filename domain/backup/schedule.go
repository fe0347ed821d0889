package backup

import "time"

// Schedule is what the store keeps of the backups that servers make: of several, one makes the next. Its instants are of the store's
// clock.
type Schedule struct {
	BegunAt   time.Time // when the last one was begun; zero: none was
	DoneAt    time.Time // when the last one that succeeded was begun; zero: none has
	Bytes     int64     // of that
	Holder    string    // the process that makes one; empty: none does
	HeldUntil time.Time // unless it renews that: then another may
	Failed    bool      // the last one has failed
}

// Of a schedule: for how long a process holds it unless it renews that, and how often it does; how soon a backup that failed is tried
// again, unless the next one is due earlier.
const (
	HoldTime   = 2 * time.Minute
	RenewEvery = 20 * time.Second
	RetryAfter = time.Hour
)

// ShortestEvery is the shortest time between two scheduled backups.
const ShortestEvery = 10 * time.Minute

// IsOld reports whether a backup that succeeded is so old that something must be wrong, if one is made every so often: the alert
// HoldcoBackupIsOld, in adapters/telemetry/metrics/alerts.yaml, has the same rule.
func IsOld(age, every time.Duration) bool { return age > 2*every }

// IsDue reports whether a backup is to be begun, if one is made every so often. However many were missed, one is.
func (s Schedule) IsDue(every time.Duration, now time.Time) bool {
	if s.Holder != "" && now.Before(s.HeldUntil) {
		return false
	}
	if s.Failed || s.Holder != "" { // failed, or died at it
		every = min(every, RetryAfter)
	}
	return s.BegunAt.IsZero() || !now.Before(s.BegunAt.Add(every)) || s.BegunAt.After(now) // the clock was set back
}

// Begin gives the schedule to a process that begins a backup.
func (s Schedule) Begin(holder string, now time.Time) Schedule {
	s.Holder, s.HeldUntil, s.BegunAt = holder, now.Add(HoldTime), now
	return s
}

// Renew lets a process hold the schedule for longer, and reports whether it holds it at all.
func (s Schedule) Renew(holder string, now time.Time) (next Schedule, holds bool) {
	if s.Holder != holder {
		return s, false
	}
	s.HeldUntil = now.Add(HoldTime)
	return s, true
}

// Done ends a backup of so many bytes.
func (s Schedule) Done(bytes int64) Schedule {
	s.DoneAt, s.Bytes, s.Failed = s.BegunAt, bytes, false
	s.Holder, s.HeldUntil = "", time.Time{}
	return s
}

// Fail ends a backup that has failed.
func (s Schedule) Fail() Schedule {
	s.Failed = true
	s.Holder, s.HeldUntil = "", time.Time{}
	return s
}
