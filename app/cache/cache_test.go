package cache_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/cache"
)

var start = time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC)

func TestACacheKeepsValuesAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	c := cache.For[int](time.Minute)
	loads := 0
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Minute - 1, 1}, {time.Minute, 2}} {
		got, err := c.Get(t.Context(), "key", start.Add(step.after), func() (int, error) { loads++; return loads, nil })
		if got != step.want || err != nil {
			t.Errorf("after %s: got %d, %v, want %d", step.after, got, err, step.want)
		}
	}
}

func TestAValueIsLoadedOnceUntilItIsOld(t *testing.T) {
	t.Parallel()
	var c cache.Cache[int]
	loads := 0
	load := func() (int, error) { loads++; return loads, nil }
	for _, step := range []struct {
		at   time.Time
		want int
	}{
		{start, 1}, {start.Add(cache.TTL - 1), 1}, {start.Add(cache.TTL), 2}, {start, 3}, // the clock was set back
	} {
		if got, err := c.Get(t.Context(), "key", step.at, load); got != step.want || err != nil {
			t.Errorf("at %s: got %d, %v, want %d", step.at, got, err, step.want)
		}
	}
	c.Invalidate()
	if got, _ := c.Get(t.Context(), "key", start, load); got != 4 {
		t.Errorf("after Invalidate: got %d", got)
	}
	if got, _ := c.Get(t.Context(), "other", start, load); got != 5 {
		t.Errorf("another key: got %d", got)
	}
}

func TestAnErrorIsNotCached(t *testing.T) {
	t.Parallel()
	var c cache.Cache[int]
	errDown := errors.New("down")
	for range 2 {
		if _, err := c.Get(t.Context(), "key", start, func() (int, error) { return 0, errDown }); !errors.Is(err, errDown) {
			t.Errorf("got %v", err)
		}
	}
	if got, err := c.Get(t.Context(), "key", start, func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestThoseWhoMissAtOnceLoadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c cache.Cache[int]
		var loads atomic.Int64
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				got, err := c.Get(t.Context(), "key", start, func() (int, error) {
					time.Sleep(time.Second)
					return int(loads.Add(1)), nil
				})
				if got != 1 || err != nil {
					t.Errorf("got %d, %v", got, err)
				}
			})
		}
		callers.Wait()
	})
}

func TestACanceledCallerDoesNotFailTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c cache.Cache[int]
		leaving, leave := context.WithCancel(t.Context())
		get := func(ctx context.Context, value int) chan error {
			outcome := make(chan error, 1)
			go func() {
				got, err := c.Get(ctx, "key", start, func() (int, error) {
					select {
					case <-time.After(time.Second):
						return value, nil
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				})
				if err == nil && got != 2 {
					t.Errorf("got %d", got)
				}
				outcome <- err
			}()
			synctest.Wait()
			return outcome
		}
		first, second, third, fourth := get(leaving, 1), get(t.Context(), 2), get(leaving, 3), get(t.Context(), 2)
		leave()
		for _, left := range []chan error{first, third} {
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("who left: %v", err)
			}
		}
		for _, stayed := range []chan error{second, fourth} {
			if err := <-stayed; err != nil {
				t.Errorf("who stayed: %v", err)
			}
		}
	})
}

func TestWhatWasReadBeforeAnInvalidateIsNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c cache.Cache[string]
		loads := make(chan string)
		get := func() chan string {
			outcome := make(chan string, 1)
			go func() {
				got, _ := c.Get(t.Context(), "key", start, func() (string, error) { return <-loads, nil })
				outcome <- got
			}()
			synctest.Wait()
			return outcome
		}
		before := get()
		c.Invalidate()
		after := get() // loads, too
		loads <- "old" // to the first that waits
		loads <- "new"
		if got := []string{<-before, <-after}; got[0] != "old" || got[1] != "new" {
			t.Errorf("got %q", got)
		}
		if got := <-get(); got != "new" {
			t.Errorf("cached is %q", got)
		}
	})
}

func TestALoadThatPanicsIsRunByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c cache.Cache[int]
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_, _ = c.Get(t.Context(), "key", start, func() (int, error) {
				time.Sleep(time.Second)
				panic("a defect")
			})
		}()
		synctest.Wait()
		if got, err := c.Get(t.Context(), "key", start, func() (int, error) { return 2, nil }); got != 2 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		if defect := <-panicked; defect != "a defect" {
			t.Errorf("the panic became %v", defect)
		}
	})
}
