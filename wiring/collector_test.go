package wiring_test

import (
	"testing"

	"holdco/wiring"
)

func TestALargeHeapGrowsByLessThanItHolds(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{
		0: 100, 5 << 20: 100, 32 << 20: 100, 40 << 20: 80, 62 << 20: 50, 64 << 20: 50, 128 << 20: 25, 1 << 30: 25,
	} {
		if got := wiring.HeapGrowth(live); got != want {
			t.Errorf("a heap of %d MiB may grow by %d percent, want %d", live>>20, got, want)
		}
	}
}
