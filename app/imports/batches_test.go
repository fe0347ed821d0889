package imports

import (
	"testing"
	"time"

	"holdco/ports/store"
)

// Batches grow to units of 40 ms while nobody else writes, and of 400 ms while no server runs. They shrink to units of 15 ms as soon as
// somebody writes.
func TestBatchesAreLargerWhereNobodyElseWrites(t *testing.T) {
	t.Parallel()
	const perLead = 50 * time.Microsecond
	p := usualPace
	for _, step := range []struct {
		wait    time.Duration
		isAlone bool
		size    int
	}{
		{0, false, 800}, {2 * time.Millisecond, false, 300}, {0, true, 8000}, {2 * time.Millisecond, true, 8000},
		{2 * time.Millisecond, false, 300}, {0, false, 800},
	} {
		for range 6 {
			p = p.after(p.size, timing{wait: step.wait, work: time.Duration(p.size) * perLead, isAlone: step.isAlone})
		}
		if p.size != step.size {
			t.Errorf("after units that waited for %s, alone %t: %d, want %d", step.wait, step.isAlone, p.size, step.size)
		}
	}
	if slow := p.after(800, timing{work: time.Second}); slow.size != 100 {
		t.Errorf("of a slow store: %d, want 100", slow.size)
	}
	fast := timing{work: time.Millisecond, isAlone: true}
	if p = (pace{store.MostKept}).after(store.MostKept, fast); p.size != store.MostKept {
		t.Errorf("of a fast store: %d, want %d", p.size, store.MostKept)
	}
}
