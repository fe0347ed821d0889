package run_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/run"
)

func TestASweepGivesAGraceAfterAPause(t *testing.T) {
	t.Parallel()
	const second, tick = time.Second, time.Millisecond
	never := time.Duration(-1 << 62) // the zero time
	at := func(from time.Duration) time.Time {
		if from == never {
			return time.Time{}
		}
		return noon.Add(from)
	}
	for _, c := range []struct {
		name          string
		swept, grace  time.Duration // before the sweep, from noon on, at which it is
		oldest        time.Duration
		next          time.Duration // the grace after it
		isNew, mayEnd bool
	}{
		{"an instance where nothing ever ran", never, never, never, never, false, false},
		{"the first sweep, and the first run", never, never, -second, never, true, true},
		{"the first sweep, while a run is old", never, never, -61 * second, 60 * second, true, false},
		{"a second after the last one", -second, never, -time.Hour, never, false, true},
		{"ten seconds after the last one that was written", -10 * second, never, -time.Hour, never, true, true},
		{"a minute after the last one", -60 * second, never, -time.Hour, never, true, true},
		{"more than a minute after", -60*second - tick, never, -time.Hour, 60 * second, true, false},
		{"after a day", -24 * time.Hour, -23 * time.Hour, -48 * time.Hour, 60 * second, true, false},
		{"a run that is younger than a pause is long", -24 * time.Hour, never, -60 * second, never, true, true},
		{"the first run after an idle day", -24 * time.Hour, -47 * time.Hour, -second, -47 * time.Hour, true, true},
		{"the clock was set ahead", -time.Hour, never, -61 * second, 60 * second, true, false},
		{"within a grace", -second, 59 * second, -time.Hour, 59 * second, false, false},
		{"at the end of a grace", -second, 0, -time.Hour, 0, false, true},
		{"after a grace", -second, -tick, -time.Hour, -tick, false, true},
		{"a pause within a grace", -61 * second, tick, -time.Hour, 60 * second, true, false},
		{"the clock was set back a little", tick, never, -time.Hour, never, true, true},
		{"the clock was set back a minute", 60 * second, never, -time.Hour, never, true, true},
		{"the clock was set back more", 60*second + tick, never, -time.Hour, 60 * second, true, false},
		{"the clock was set back before all runs began", time.Hour, never, 30 * time.Minute, never, true, true},
		{"the clock was set back within a grace", 30 * time.Minute, 31 * time.Minute, -time.Hour, 60 * second, true, false},
		{"the clock was set back a second within a grace", second, 60*second + tick, -time.Hour, 60 * second, true, false},
	} {
		state := run.Sweep{At: at(c.swept), GraceUntil: at(c.grace)}
		next, isNew, mayEnd := state.Next(noon, c.oldest != never, at(c.oldest))
		want := run.Sweep{At: noon, GraceUntil: at(c.next)}
		if c.oldest == never {
			want = state
		}
		if diff := cmp.Diff(want, next); diff != "" || isNew != c.isNew || mayEnd != c.mayEnd {
			t.Errorf("%s: new %t, may end %t\n%s", c.name, isNew, mayEnd, diff)
		}
	}
	idle := run.Sweep{At: noon.Add(-time.Hour), GraceUntil: noon.Add(-time.Hour)}
	if next, isNew, mayEnd := idle.Next(noon, false, time.Time{}); next != idle || isNew || mayEnd {
		t.Errorf("an idle instance: %+v, %t, %t", next, isNew, mayEnd)
	}
}

func TestASweepHasPausedAfterMoreThanAMinute(t *testing.T) {
	t.Parallel()
	const minute, tick = time.Minute, time.Millisecond
	for since, want := range map[time.Duration]bool{
		0: false, minute: false, minute + tick: true, -minute: false, -minute - tick: true,
	} {
		if got := (run.Sweep{At: noon}).HasPaused(noon.Add(since)); got != want {
			t.Errorf("%v after a sweep: %t", since, got)
		}
	}
	if !(run.Sweep{}).HasPaused(noon) {
		t.Error("an instance that was never swept has not paused")
	}
}

// A pause in which a clock that is right goes on costs no lease, however long it is.
func TestNoLeaseEndsBeforeItCouldBeRenewedAfterAPause(t *testing.T) {
	t.Parallel()
	state, start := run.Sweep{At: noon}, noon.Add(-time.Hour)
	for _, pause := range []time.Duration{61 * time.Second, time.Hour, 1000 * time.Hour} {
		now := noon.Add(pause)
		first, isNew, mayEnd := state.Next(now, true, start)
		if !isNew || mayEnd {
			t.Fatalf("the first sweep after %v: %t, %t", pause, isNew, mayEnd)
		}
		for after := time.Second; after < 2*time.Minute; after += time.Second {
			next, isNew, mayEnd := first.Next(now.Add(after), true, start)
			if mayEnd != (after >= time.Minute) {
				t.Fatalf("%v after a pause of %v leases may end: %t", after, pause, mayEnd)
			}
			if isNew {
				first = next
			}
		}
	}
}
