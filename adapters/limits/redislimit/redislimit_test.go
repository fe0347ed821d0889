package redislimit_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/limits/memlimit"
	"holdco/adapters/limits/redislimit"
	"holdco/adapters/limits/redislimit/redistest"
	"holdco/adapters/system"
	"holdco/domain/ratelimit"
	"holdco/ports/limitertest"
)

// process is a limiter as a process has it.
type process struct {
	*redislimit.Limiter
	lost, back atomic.Int32
}

// Nothing is lost within long, however slow the machine; what hangs is found out soon.
const long, soon = time.Minute, 100 * time.Millisecond

func newProcess(t *testing.T, url string, timeout time.Duration) *process {
	t.Helper()
	p := &process{}
	var err error
	p.Limiter, err = redislimit.Open(t.Context(), redislimit.Options{
		URL: url, Own: memlimit.New(system.Clock{}),
		OnLost:  func(error) { p.lost.Add(1) },
		OnBack:  func() { p.back.Add(1) },
		Timeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// was fails the test unless Redis was lost and found so many times.
func (p *process) was(t *testing.T, lost, back int32) {
	t.Helper()
	if p.lost.Load() != lost || p.back.Load() != back {
		t.Errorf("Redis was lost %d times and back %d times, want %d and %d", p.lost.Load(), p.back.Load(), lost, back)
	}
}

// admits asks many times, and returns how often the answer was yes.
func (p *process) admits(t *testing.T, asked int, limit ratelimit.Limit) (admitted int) {
	t.Helper()
	for range asked {
		if p.Take(t.Context(), key, limit).Admitted {
			admitted++
		}
	}
	return admitted
}

var key = ratelimit.ByToken("tok_1", ratelimit.Read)

func TestConformance(t *testing.T) {
	t.Parallel()
	limitertest.RunAll(t, func(t *testing.T) limitertest.Subject {
		server := redistest.New(t)
		one, other := newProcess(t, server.URL(), long), newProcess(t, server.URL(), long)
		t.Cleanup(func() { one.was(t, 0, 0); other.was(t, 0, 0) })
		return limitertest.Subject{Limiter: one, Other: other, Pass: func(d time.Duration) { server.Age(t, d) }}
	})
}

func TestEveryKeyEndsWithItsWindow(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	p := newProcess(t, server.URL(), long)
	for _, key := range []ratelimit.Key{key, ratelimit.ByClient("192.0.2.1")} {
		for range 3 {
			p.Take(t.Context(), key, 2)
		}
	}
	keys := server.Keys(t)
	for name, left := range keys {
		if left <= 0 || left > time.Minute || !strings.HasPrefix(name, "holdco:") {
			t.Errorf("%s lives for %s", name, left)
		}
	}
	if len(keys) != 3 { // with that of the probe
		t.Errorf("%v", keys)
	}
}

func TestTheLossOfRedisGivesNobodyASecondLimit(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	p := newProcess(t, server.URL(), long)
	if got := p.admits(t, 3, 5); got != 3 {
		t.Errorf("%d of 3 were admitted", got)
	}
	server.Kill(t)
	if got := p.admits(t, 10, 5); got != 2 {
		t.Errorf("%d more were admitted without Redis, want 2", got)
	}
	p.was(t, 1, 0)

	server.Start(t) // it knows nothing of the window
	awaitBack(t, p)
	if got := p.admits(t, 10, 5); got != 0 {
		t.Errorf("%d more were admitted when Redis was back", got)
	}
	p.was(t, 1, 1)
}

// awaitBack asks under another key until Redis is back.
func awaitBack(t *testing.T, p *process) {
	t.Helper()
	await(t, "the return to Redis", func() bool {
		p.Take(t.Context(), ratelimit.ByClient("192.0.2.1"), 1)
		return p.back.Load() > 0
	})
}

func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestARedisThatHangsCostsLittle(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	p := newProcess(t, server.URL(), soon)
	server.Pause(t)
	began := time.Now()
	if got := p.admits(t, 1000, 500); got != 500 {
		t.Errorf("%d of 1000 were admitted, want 500", got)
	}
	if took := time.Since(began); took > 90*time.Second { // 100 s if each waited
		t.Errorf("1000 requests took %s", took)
	}
	p.was(t, 1, 0)
	server.Resume(t)
	awaitBack(t, p)
}

func TestARedisThatComesLaterIsFound(t *testing.T) {
	t.Parallel()
	server := redistest.Prepare(t)
	p := newProcess(t, server.URL(), long)
	p.was(t, 1, 0)
	if got := p.admits(t, 3, 2); got != 2 {
		t.Errorf("%d of 3 were admitted, want 2", got)
	}
	server.Start(t)
	awaitBack(t, p)
	p.Take(t.Context(), key, 2)
	if _, counted := server.Keys(t)["holdco:limit:read:tok_1"]; !counted {
		t.Error("nothing is counted in Redis")
	}
	p.was(t, 1, 1)
}

func TestARedisThatTakesNoWritesIsLost(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	p := newProcess(t, server.URL(), long)
	server.Configure(t, "maxmemory", "1")
	if got := p.admits(t, 3, 2); got != 2 {
		t.Errorf("%d of 3 were admitted, want 2", got)
	}
	refused := server.Refusals(t)
	await(t, "attempts to return", func() bool { return server.Refusals(t) >= refused+2 }) // the first of them is over
	p.was(t, 1, 0)
	server.Configure(t, "maxmemory", "0")
	awaitBack(t, p)
	p.was(t, 1, 1)
}

func TestAPasswordThatIsWrongIsALoss(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	p := newProcess(t, "redis://:wrong@"+server.Address, long)
	p.was(t, 1, 0)
}

func TestAClientThatIsGoneIsNoLoss(t *testing.T) {
	t.Parallel()
	p := newProcess(t, redistest.New(t).URL(), long)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got := p.Take(gone, key, 3); !got.Admitted || got.Remaining != 2 {
		t.Errorf("%+v", got)
	}
	p.was(t, 0, 0)
}

func TestURLsOfRedis(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://localhost", "redis://127.0.0.1:6379/2", "rediss://user:p%40ss@redis.internal:6380",
		"unix:///run/redis.sock?db=1", "redis://[::1]:6379",
	} {
		if !redislimit.ValidURL(url) {
			t.Errorf("%s is refused", url)
		}
	}
	for _, url := range []string{
		"", "localhost:6379", "redis:localhost", "http://localhost", "redis://localhost:port", "redis://localhost:65536",
		"redis://localhost/first", "redis://localhost/1/2", "redis://localhost?nonsense=1", "redis://user:p%zz@localhost", "unix://",
	} {
		if redislimit.ValidURL(url) {
			t.Errorf("%s is taken", url)
		}
		if _, err := redislimit.Open(t.Context(), redislimit.Options{URL: url}); err == nil {
			t.Errorf("%s is opened", url)
		}
	}
}
