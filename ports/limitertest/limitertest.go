// Package limitertest is the conformance suite of outbound.Limiter: every limiter passes all of it.
package limitertest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"holdco/domain/ratelimit"
	"holdco/ports/outbound"
)

// Subject is a fresh limiter that has counted nothing.
type Subject struct {
	outbound.Limiter
	Other outbound.Limiter    // shares the counts, as another process would; nil: they are not shared
	Pass  func(time.Duration) // lets time pass
}

// RunAll tests a limiter against its contract.
func RunAll(t *testing.T, open func(t *testing.T) Subject) {
	for name, check := range map[string]func(t *testing.T, s Subject){
		"a window admits its limit and no more":         admitsItsLimit,
		"a window starts with its first request":        startsWithItsFirstRequest,
		"what is refused makes no window longer":        refusalsAreFree,
		"nothing is counted together that differs":      keysAreApart,
		"any number of callers get exactly the limit":   exactUnderConcurrency,
		"a changed limit takes effect at once":          changedLimit,
		"the greatest limit is a limit like any other":  greatestLimit,
		"those who share counts get the limit together": sharedByAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

var key = ratelimit.ByToken("tok_1", ratelimit.Read)

// take fails the test unless the verdict is as given. Time may pass in between, so the window may end up to a few
// seconds sooner.
func (s Subject) take(t *testing.T, limit ratelimit.Limit, admitted bool, remaining int64, reset time.Duration) {
	t.Helper()
	const slack = 20 * time.Second
	got := s.Take(t.Context(), key, limit)
	if got.Limit != limit || got.Admitted != admitted || got.Remaining != remaining ||
		got.Reset > reset || got.Reset <= max(0, reset-slack) {
		t.Errorf("%+v, want admitted %t, remaining %d, reset %s of %d", got, admitted, remaining, reset, limit)
	}
}

func admitsItsLimit(t *testing.T, s Subject) {
	s.take(t, 3, true, 2, time.Minute)
	s.take(t, 3, true, 1, time.Minute)
	s.take(t, 3, true, 0, time.Minute)
	s.take(t, 3, false, 0, time.Minute)
	s.take(t, 3, false, 0, time.Minute)
}

func startsWithItsFirstRequest(t *testing.T, s Subject) {
	s.take(t, 2, true, 1, time.Minute)
	s.Pass(30 * time.Second)
	s.take(t, 2, true, 0, 30*time.Second)
	s.take(t, 2, false, 0, 30*time.Second)
	s.Pass(30 * time.Second)
	s.take(t, 2, true, 1, time.Minute)
	s.Pass(10 * time.Minute)
	s.take(t, 2, true, 1, time.Minute)
}

func refusalsAreFree(t *testing.T, s Subject) {
	s.take(t, 1, true, 0, time.Minute)
	for n := range 5 {
		s.Pass(6 * time.Second)
		s.take(t, 1, false, 0, time.Minute-time.Duration(n+1)*6*time.Second)
	}
	s.Pass(30 * time.Second)
	s.take(t, 1, true, 0, time.Minute)
}

func keysAreApart(t *testing.T, s Subject) {
	keys := []ratelimit.Key{key, ratelimit.ByClient("192.0.2.1"), ratelimit.ByClient("2001:db8::/64"), ratelimit.ByClient("tok_1")}
	for _, class := range []ratelimit.Class{ratelimit.Write, ratelimit.Costly} {
		keys = append(keys, ratelimit.ByToken("tok_1", class), ratelimit.ByToken("tok_2", class))
	}
	for _, admitted := range []bool{true, false} {
		for _, key := range keys {
			if got := s.Take(t.Context(), key, 1); got.Admitted != admitted {
				t.Errorf("%v: %+v", key, got)
			}
		}
	}
}

func exactUnderConcurrency(t *testing.T, s Subject) {
	const limit, callers = 100, 1000
	for round := range 3 {
		if admitted := s.crowd(t, callers, limit, s.Limiter); admitted != limit {
			t.Errorf("round %d: of %d at once %d were admitted, want %d", round, callers, admitted, limit)
		}
		s.Pass(time.Minute)
	}
}

// crowd lets many callers take concurrently from several limiters, and counts who was admitted. No two may get the same
// Remaining.
func (s Subject) crowd(t *testing.T, callers int, limit ratelimit.Limit, limiters ...outbound.Limiter) int {
	t.Helper()
	verdicts := make([]ratelimit.Verdict, callers)
	var everybody sync.WaitGroup
	for i := range verdicts {
		everybody.Go(func() { verdicts[i] = limiters[i%len(limiters)].Take(t.Context(), key, limit) })
	}
	everybody.Wait()
	seen := map[int64]bool{}
	for _, verdict := range verdicts {
		if verdict.Admitted && seen[verdict.Remaining] {
			t.Errorf("%d remained for two of them", verdict.Remaining)
		}
		if verdict.Admitted {
			seen[verdict.Remaining] = true
		}
	}
	return len(seen)
}

func changedLimit(t *testing.T, s Subject) {
	for range 3 {
		s.Take(t.Context(), key, 10)
	}
	s.take(t, 2, false, 0, time.Minute)
	s.take(t, 5, true, 1, time.Minute)
}

func greatestLimit(t *testing.T, s Subject) {
	s.take(t, ratelimit.MostLimit, true, int64(ratelimit.MostLimit)-1, time.Minute)
	s.take(t, ratelimit.MostLimit, true, int64(ratelimit.MostLimit)-2, time.Minute)
}

func sharedByAll(t *testing.T, s Subject) {
	if s.Other == nil {
		return
	}
	if admitted := s.crowd(t, 1000, 100, s.Limiter, s.Other); admitted != 100 {
		t.Errorf("%d were admitted", admitted)
	}
	for i := range 10 {
		subject := ratelimit.ByClient("192.0.2." + strconv.Itoa(i))
		if !s.Take(t.Context(), subject, 1).Admitted || s.Other.Take(t.Context(), subject, 1).Admitted {
			t.Errorf("%v is not counted together", subject)
		}
	}
}
