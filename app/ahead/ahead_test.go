package ahead_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"holdco/app/ahead"
)

// count hands on numbers from 1 on, as many as there are to be, and then fails or not.
func count(most int, failure error) func(ctx context.Context, hand func(int) error) error {
	return func(_ context.Context, hand func(int) error) error {
		for n := range most {
			if err := hand(n + 1); err != nil {
				return err
			}
		}
		return failure
	}
}

var errBroken = errors.New("broken")

func TestReadTakesAllPortionsInOrder(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{nil, errBroken} {
		var taken []int
		err := ahead.Read(t.Context(), count(5, failure), func(n int) error {
			taken = append(taken, n)
			return nil
		})
		if !errors.Is(err, failure) || !slices.Equal(taken, []int{1, 2, 3, 4, 5}) {
			t.Errorf("%v, %v", taken, err)
		}
	}
}

func TestReadEndsWhenAPortionIsNotTaken(t *testing.T) {
	t.Parallel()
	var handed error
	err := ahead.Read(t.Context(), func(ctx context.Context, hand func(int) error) error {
		handed = count(1000, nil)(ctx, hand)
		return handed
	}, func(n int) error {
		if n == 3 {
			return errBroken
		}
		return nil
	})
	if !errors.Is(err, errBroken) || !errors.Is(handed, context.Canceled) {
		t.Errorf("%v; the reader ended with %v", err, handed)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	err := ahead.Read(ctx, count(1000, nil), func(n int) error {
		if n == 3 {
			cancel(errBroken)
		}
		return nil
	})
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestAPanicOfTheReaderIsAnError(t *testing.T) {
	t.Parallel()
	err := ahead.Read(t.Context(), func(context.Context, func(int) error) error { panic("no") }, func(int) error { return nil })
	if err == nil {
		t.Error("there was no error")
	}
}
