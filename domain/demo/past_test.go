package demo_test

import (
	"testing"

	"holdco/domain/demo"
)

func TestAPastHasADayOrAYear(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]bool{-1: false, 0: false, 1: true, 366: true, 367: false} {
		if demo.IsPast(days) != want {
			t.Errorf("%d: %t", days, !want)
		}
	}
}
