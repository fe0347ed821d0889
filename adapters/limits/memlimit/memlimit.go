// Package memlimit counts requests in the memory of this process.
package memlimit

import (
	"context"
	"sync"
	"time"

	"holdco/domain/ratelimit"
	"holdco/ports/outbound"
)

// Limiter keeps two generations of windows. A window that is not asked for while one generation lasts has ended, and
// goes with the older one. So its memory is bounded by the keys of two minutes.
type Limiter struct {
	clock outbound.Clock

	mutex         sync.Mutex
	recent, older map[ratelimit.Key]ratelimit.Count
	began         time.Time // the recent generation
}

var _ outbound.Limiter = (*Limiter)(nil)

// New makes a limiter that has counted nothing.
func New(clock outbound.Clock) *Limiter { return &Limiter{clock: clock} }

// Take implements outbound.Limiter.
func (l *Limiter) Take(_ context.Context, key ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := l.clock.Now()
	l.forget(now)
	count, ok := l.recent[key]
	if !ok {
		count = l.older[key]
	}
	next, verdict := count.Take(limit, now)
	l.recent[key] = next
	return verdict
}

// forget drops the older generation when the recent one is as old as a window.
func (l *Limiter) forget(now time.Time) {
	switch {
	case !now.Before(l.began.Add(ratelimit.Window)):
		l.older, l.recent, l.began = l.recent, map[ratelimit.Key]ratelimit.Count{}, now
	case now.Before(l.began): // the clock was set back
		l.began = now
	}
}
