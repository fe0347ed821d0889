package run

import "time"

// Sweep is what is known of the sweep, which ends the leases that have run out.
type Sweep struct {
	At         time.Time // when leases were last swept; zero: never
	GraceUntil time.Time // overdue leases are not ended before, and can be used; zero: no grace was given
}

const (
	longestPause = time.Minute      // between two sweeps without a grace
	grace        = time.Minute      // that leases get after a longer one
	writtenEvery = 10 * time.Second // the state of the sweep
)

// HasPaused reports whether no sweep was for so long that Next may give a grace. It needs to know the oldest open run then.
func (s Sweep) HasPaused(now time.Time) bool {
	paused := now.Sub(s.At)
	return paused > longestPause || paused < -longestPause
}

// Next returns the state after a sweep, whether it has to be written, and whether leases may be ended now. After a pause, because
// no server ran or the clock was set, agents get time to renew their leases. Without open runs there is nothing to do. Oldest is the
// start of the oldest of them; it does not matter unless HasPaused reports true.
func (s Sweep) Next(now time.Time, hasOpen bool, oldest time.Time) (next Sweep, isNew, mayEnd bool) {
	if !hasOpen {
		return s, false, false
	}
	paused := now.Sub(s.At)
	next = Sweep{At: now, GraceUntil: s.GraceUntil}
	if longest := s.GraceUntil.Sub(now); longest > grace { // the clock was set back
		next.GraceUntil = now.Add(grace)
		return next, true, false
	}
	if s.HasPaused(now) && now.Sub(oldest) > longestPause {
		next.GraceUntil = now.Add(grace)
		return next, true, false
	}
	return next, paused >= writtenEvery || paused < 0, !now.Before(s.GraceUntil)
}
