package aside_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/aside"
)

func TestCallsReturnWhatTheyReturn(t *testing.T) {
	t.Parallel()
	calls, errRefused := aside.New(1), errors.New("refused")
	for _, want := range []error{nil, errRefused} {
		made := false
		if err := calls.Make(t.Context(), func() error { made = true; return want }); !errors.Is(err, want) || !made {
			t.Errorf("got %v, want %v; made: %t", err, want, made)
		}
	}
	if err := calls.Make(t.Context(), func() error { panic("spilled") }); err == nil || !strings.Contains(err.Error(), "spilled") {
		t.Errorf("a panic is %v", err)
	}
	if err := calls.Make(t.Context(), func() error { return nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

func TestSoManyCallsAtOnceAndNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 3
		calls := aside.New(most)
		var underWay, highest atomic.Int64
		var callers sync.WaitGroup
		for range 10 * most {
			callers.Go(func() {
				err := calls.Make(t.Context(), func() error {
					if now := underWay.Add(1); now > highest.Load() {
						highest.Store(now)
					}
					time.Sleep(time.Second)
					underWay.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if highest.Load() != most {
			t.Errorf("%d calls were under way at once", highest.Load())
		}
	})
}

func TestACallerThatLeavesMakesNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := aside.New(1)
		end := make(chan struct{})
		go func() { _ = calls.Make(t.Context(), func() error { <-end; return nil }) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		outcome := make(chan error, 1)
		go func() {
			outcome <- calls.Make(ctx, func() error {
				t.Error("the call was made")
				return nil
			})
		}()
		synctest.Wait()
		leave()
		if err := <-outcome; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(end)
	})
}
