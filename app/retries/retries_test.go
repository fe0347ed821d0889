package retries_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/retries"
	"holdco/domain/fault"
)

var errAway = fault.New(fault.Unavailable, "The store is away.")

func TestWhatIsUnavailableIsTriedAgainAfterLongerAndLongerPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var tried []time.Duration
		err := retries.WhileUnavailable(t.Context(), retries.For(2*time.Second), func() error {
			tried = append(tried, time.Since(start))
			return errAway
		})
		if fault.CodeOf(err) != fault.Unavailable || len(tried) != 6 ||
			tried[1] != 50*time.Millisecond || tried[5] != 1550*time.Millisecond {
			t.Errorf("%v, after %v", err, tried)
		}
	})
}

func TestWhatSucceedsOrIsRefusedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, end := range []error{nil, errors.New("broken"), fault.New(fault.NotFound, "There is none.")} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			err := retries.WhileUnavailable(t.Context(), retries.For(time.Minute), func() error {
				if tries++; tries < 3 {
					return errAway
				}
				return end
			})
			if !errors.Is(err, end) || tries != 3 {
				t.Errorf("%v after %d", err, tries)
			}
		})
	}
}

func TestTheEndOfTheContextEndsAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 60*time.Millisecond)
		defer stop()
		start := time.Now()
		err := retries.WhileUnavailable(ctx, retries.For(time.Hour), func() error { return errAway })
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errAway) || time.Since(start) != 60*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}
