package memlimit_test

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/limits/memlimit"
	"holdco/domain/ratelimit"
	"holdco/ports/limitertest"
)

// clock stands still until a test moves it.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.pass(1_000_000 * time.Hour)
	return c
}

func (c *clock) Now() time.Time       { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) pass(d time.Duration) { c.ms.Add(d.Milliseconds()) }

func TestConformance(t *testing.T) {
	t.Parallel()
	limitertest.RunAll(t, func(*testing.T) limitertest.Subject {
		clock := newClock()
		return limitertest.Subject{Limiter: memlimit.New(clock), Pass: clock.pass}
	})
}

func TestAWindowLivesOnWhileOthersAreForgotten(t *testing.T) {
	t.Parallel()
	clock := newClock()
	limiter := memlimit.New(clock)
	late, early := ratelimit.ByClient("late"), ratelimit.ByClient("early")
	limiter.Take(t.Context(), early, 2)
	clock.pass(59 * time.Second)
	limiter.Take(t.Context(), late, 2)
	for _, c := range []struct {
		after     time.Duration
		key       ratelimit.Key
		remaining int64
	}{
		{time.Second, early, 1}, // its window ended
		{57 * time.Second, late, 0},
		{time.Second, late, 0},
		{time.Second, late, 1},
	} {
		clock.pass(c.after)
		if got := limiter.Take(t.Context(), c.key, 2); got.Remaining != c.remaining {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestAClockThatIsSetBackNeitherOpensNorBlocks(t *testing.T) {
	t.Parallel()
	clock := newClock()
	limiter := memlimit.New(clock)
	key := ratelimit.ByClient("192.0.2.1")
	limiter.Take(t.Context(), key, 1)
	for range 3 {
		clock.pass(-time.Hour)
		if got := limiter.Take(t.Context(), key, 1); got.Admitted || got.Reset != time.Minute {
			t.Errorf("%+v", got)
		}
	}
	clock.pass(time.Minute)
	if got := limiter.Take(t.Context(), key, 1); !got.Admitted {
		t.Errorf("%+v", got)
	}
}

func TestWindowsThatEndedTakeNoMemory(t *testing.T) {
	clock := newClock()
	limiter := memlimit.New(clock)
	const keys = 20_000
	minute := func(n int) uint64 {
		for i := range keys {
			limiter.Take(t.Context(), ratelimit.ByClient(strconv.Itoa(n*keys+i)), 60)
		}
		clock.pass(time.Minute)
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return memory.HeapAlloc
	}
	minute(0)
	two := minute(1)
	var many uint64
	for n := range 20 {
		many = minute(n + 2)
	}
	if many > 2*two {
		t.Errorf("%d bytes after two minutes, %d after twenty more", two, many)
	}
	runtime.KeepAlive(limiter)
}
