package wiring_test

import (
	"testing"

	"holdco/wiring"
)

func TestALargeHeapGrowsByLessThanItHolds(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{
		0: 100, 5 << 20: 100, 32 << 20: 100, 40 << 20: 80, 62 << 20: 50, 64 << 20: 50, 128 << 20: 25, 1 << 30: 15,
	} {
		if got := wiring.HeapGrowth(live, 100<<20); got != want {
			t.Errorf("a heap of %d MiB may grow by %d percent, want %d", live>>20, got, want)
		}
	}
}

func TestAHeapGrowsByLessWhileLittleIsAllocated(t *testing.T) {
	t.Parallel()
	const live = 20 << 20
	for allocated, want := range map[uint64]int{0: 15, 1 << 20: 15, 2 << 20: 20, 4 << 20: 40, 8 << 20: 80, 10 << 20: 100, 1 << 40: 100} {
		if got := wiring.HeapGrowth(live, allocated); got != want {
			t.Errorf("with %d MiB a second the heap may grow by %d percent, want %d", allocated>>20, got, want)
		}
	}
	for live, want := range map[uint64]int{3 << 20: 100, 4 << 20: 75, 1 << 30: 10} {
		if got := wiring.HeapGrowth(live, 0); got != want {
			t.Errorf("an idle heap of %d MiB may grow by %d percent, want %d", live>>20, got, want)
		}
	}
}
