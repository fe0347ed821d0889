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
	Failed    bool      // the last one has failed, or was broken off
	Failures  int64     // since one succeeded, or was begun by a program that does not count them
	RetryAt   time.Time // when one that has failed is tried again; zero: it has not, or a program that does not know this has noted it
}

// Of a schedule: for how long a process holds it unless it renews that, and how often it does; how soon a backup that has often failed is
// tried again, unless the next one is due earlier.
const (
	HoldTime   = 2 * time.Minute
	RenewEvery = 20 * time.Second
	RetryAfter = time.Hour
)

// retries are how soon a backup is tried again that has failed for the first time, the second, and so on; then it is RetryAfter.
var retries = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

func retryAfter(failures int64) time.Duration {
	if n := failures - 1; n >= 0 && n < int64(len(retries)) {
		return retries[n]
	}
	return RetryAfter
}

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
	return s.BegunAt.IsZero() || s.BegunAt.After(now) /* the clock was set back */ || !now.Before(s.Next(every))
}

// Next is when a backup is begun after one that was, unless a process still holds the schedule.
func (s Schedule) Next(every time.Duration) time.Time {
	regular, retry := s.BegunAt.Add(every), s.RetryAt
	switch {
	case s.Holder != "": // it died at it
		retry = s.HeldUntil.Add(retryAfter(s.Failures + 1))
	case !s.Failed:
		return regular
	case retry.Before(s.BegunAt):
		retry = s.BegunAt.Add(RetryAfter)
	}
	if retry.Before(regular) {
		return retry
	}
	return regular
}

// Begin gives the schedule to a process that begins a backup. If another died at one, that has failed.
func (s Schedule) Begin(holder string, now time.Time) Schedule {
	switch {
	case s.Holder != "":
		s.Failures++
	case !s.Failed:
		s.Failures = 0
	}
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
	s.DoneAt, s.Bytes, s.Failed, s.Failures, s.RetryAt = s.BegunAt, bytes, false, 0, time.Time{}
	s.Holder, s.HeldUntil = "", time.Time{}
	return s
}

// BreakOff ends a backup whose server stops: that is no failure, and the next server makes it.
func (s Schedule) BreakOff(now time.Time) Schedule {
	s.Failed = true
	s.RetryAt = now.Add(retries[0])
	s.Holder, s.HeldUntil = "", time.Time{}
	return s
}

// Fail ends a backup that has failed.
func (s Schedule) Fail(now time.Time) Schedule {
	s.Failed = true
	s.Failures++
	s.RetryAt = now.Add(retryAfter(s.Failures))
	s.Holder, s.HeldUntil = "", time.Time{}
	return s
}
