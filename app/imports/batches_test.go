package imports

import (
	"testing"
	"time"

	"holdco/ports/store"
)

// Batches grow to units of 40 ms while nobody else writes, and shrink to units of 15 ms as soon as somebody does.
func TestBatchesAreLargerWhereNobodyElseWrites(t *testing.T) {
	t.Parallel()
	const perLead = 30 * time.Microsecond
	p := usualPace
	steps := func(wait time.Duration) {
		for range 5 {
			p = p.after(p.size, timing{wait: wait, work: time.Duration(p.size) * perLead})
		}
	}
	for _, step := range []struct {
		wait time.Duration
		size int
	}{{0, 1333}, {2 * time.Millisecond, 500}, {0, 1333}} {
		if steps(step.wait); p.size != step.size {
			t.Errorf("after units that waited for %s: %d, want %d", step.wait, p.size, step.size)
		}
	}
	if slow := p.after(1333, timing{work: time.Second}); slow.size != 100 {
		t.Errorf("of a slow store: %d, want 100", slow.size)
	}
	if p = (pace{store.MostKept}).after(store.MostKept, timing{work: time.Millisecond}); p.size != store.MostKept {
		t.Errorf("of a fast store: %d, want %d", p.size, store.MostKept)
	}
}
