package agent_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// lucky is an agent that has had no setback.
func lucky() agent.Agent {
	a := ada(agent.Active)
	a.Stats.AdapterFailures = 0
	return a
}

// failedOn is a run that failed at once.
func failedOn(i id.Issue, at time.Time) agent.EndedRun {
	return agent.EndedRun{Issue: i, StartedAt: at, Outcome: agent.Failed, Error: `{"code":"exit_1"}`}
}

func setbackOf(kind agent.SetbackKind, until, at time.Time) agent.EndedRun {
	return agent.EndedRun{
		Issue: "iss_1", StartedAt: at, Outcome: agent.Setbacked, Setback: &agent.Setback{Kind: kind, Until: until},
	}
}

// held ends so many runs of an agent, each on an issue of its own, and returns what follows from the last.
func held(a agent.Agent, runs int, at time.Time) (agent.Agent, *event.Event) {
	var happened *event.Event
	for n := range runs {
		a, happened = a.RunEnded(failedOn(id.Issue(fmt.Sprint(n)), at), at)
	}
	return a, happened
}

func TestRepeatedQuickFailuresHoldAnAgent(t *testing.T) {
	t.Parallel()
	a, happened := held(ada(agent.Active), agent.QuickFailures-1, noon)
	if happened != nil || a.Guard.IsHeld() {
		t.Fatalf("%+v", a.Guard)
	}
	a, happened = a.RunEnded(failedOn("last", noon), noon)
	if happened == nil || happened.Type != event.AgentHeld || a.Guard.Reason != agent.QuickFailure ||
		a.Guard.Runs != agent.QuickFailures || a.Guard.Error != `{"code":"exit_1"}` || !a.Guard.Until.Equal(noon.Add(time.Minute)) {
		t.Fatalf("%+v", a.Guard)
	}
	// Runs that were under way say nothing new, whatever became of them.
	for _, outcome := range []agent.Outcome{agent.Failed, agent.Worked, agent.Neutral} {
		left := failedOn("left", noon)
		left.Outcome = outcome
		if next, happened := a.RunEnded(left, noon.Add(time.Second)); happened != nil || next.Guard != a.Guard {
			t.Errorf("%+v", next.Guard)
		}
	}
	if !a.IsWaiting(0, noon.Add(59*time.Second)) || a.IsWaiting(0, noon.Add(time.Minute)) || !a.IsWaiting(1, noon.Add(time.Hour)) {
		t.Error("a hold does not end with one run on trial")
	}
	var at time.Time
	for _, minutes := range []int{5, 30, 60, 60} { // each trial fails
		at = a.Guard.Until
		if a, happened = a.RunEnded(failedOn("trial", at), at); happened == nil || happened.Type != event.AgentHeld ||
			a.Guard.Until.Sub(at) != time.Duration(minutes)*time.Minute || !a.Guard.Since.Equal(noon) {
			t.Errorf("%d: %+v", minutes, a.Guard)
		}
	}
	at = a.Guard.Until
	a, happened = a.RunEnded(agent.EndedRun{Issue: "trial", StartedAt: at, Outcome: agent.Worked}, at)
	if happened == nil || happened.Type != event.AgentHoldReleased || a.Guard != (agent.Guard{}) || a.IsWaiting(9, at) {
		t.Errorf("%+v", a.Guard)
	}
}

func TestWhatBreaksARowOfFailures(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]agent.EndedRun{
		"success":              {Issue: "x", StartedAt: noon, Outcome: agent.Worked},
		"failure after a time": {Issue: "x", StartedAt: noon.Add(-time.Minute), Outcome: agent.Failed, HasProgress: true},
	} {
		a, _ := held(ada(agent.Active), agent.QuickFailures-1, noon)
		a, _ = a.RunEnded(r, noon)
		if a, happened := a.RunEnded(failedOn("y", noon), noon); happened != nil || a.Guard.Failures != 1 {
			t.Errorf("%s: %+v", name, a.Guard)
		}
	}
	a, _ := held(ada(agent.Active), agent.QuickFailures-1, noon)
	a, _ = a.RunEnded(agent.EndedRun{Issue: "x", StartedAt: noon}, noon) // given back
	slow := agent.EndedRun{Issue: "y", StartedAt: noon.Add(-time.Hour), Outcome: agent.Failed}
	if a, happened := a.RunEnded(slow, noon); happened == nil || !a.Guard.IsHeld() {
		t.Error("a run without progress is quick, whatever it lasted")
	}
}

func TestAFailedLoginHoldsAtOnce(t *testing.T) {
	t.Parallel()
	a, happened := ada(agent.Active).RunEnded(setbackOf(agent.AuthenticationFailed, time.Time{}, noon), noon)
	if happened == nil || a.Guard.Reason != "authentication_failed" || !a.Guard.HasTrial() || !a.Guard.Until.Equal(noon.Add(time.Hour)) {
		t.Fatalf("%+v", a.Guard)
	}
	changed := agent.Settings{Model: new("another")}
	if next, _, err := a.Apply(agent.Patch{Settings: changed}, admin, later); err != nil || next.Guard.IsHeld() || next.IsWaiting(0, noon) {
		t.Errorf("%+v, %v", next.Guard, err)
	}
	if next, _, err := a.Apply(agent.Patch{Settings: agent.Settings{Role: new("another")}}, admin, later); err != nil ||
		!next.Guard.IsHeld() {
		t.Errorf("%+v, %v", next.Guard, err)
	}
	next, released, err := a.ReleaseHold(later)
	if err != nil || released.Type != event.AgentHoldReleased || next.Guard != (agent.Guard{}) || next.IsWaiting(1, noon) {
		t.Errorf("%+v, %v", next.Guard, err)
	}
	if _, _, err := next.ReleaseHold(later); fault.CodeOf(err) != fault.InvalidTransition {
		t.Error(err)
	}
	paused, _, _ := a.Pause(later)
	if resumed, _, err := paused.Resume(later); err != nil || resumed.Guard.IsHeld() {
		t.Errorf("%+v, %v", resumed.Guard, err)
	}
}

func TestARateLimitHoldsUntilItEnds(t *testing.T) {
	t.Parallel()
	for until, want := range map[time.Time]time.Duration{
		noon.Add(5 * time.Hour):             5 * time.Hour,
		noon.Add(-time.Hour):                time.Minute,
		noon.Add(10 * 365 * 24 * time.Hour): 8 * 24 * time.Hour,
		{}:                                  time.Minute,
	} {
		a, happened := lucky().RunEnded(setbackOf(agent.RateLimited, until, noon), noon)
		if happened == nil || a.Guard.HasTrial() || a.Guard.Until.Sub(noon) != want {
			t.Errorf("%v: %+v", until, a.Guard)
		}
		if !a.IsWaiting(0, noon.Add(want-1)) || a.IsWaiting(5, noon.Add(want)) || !a.Guard.IsOver(noon.Add(want)) {
			t.Errorf("%v: it does not end at once for all runs", until)
		}
	}
	claimed := setbackOf(agent.RateLimited, noon.Add(5*time.Hour), noon)
	claimed.Setback.Claimed = true
	if a, _ := ada(agent.Active).RunEnded(claimed, noon); a.Guard.Until.Sub(noon) != time.Hour {
		t.Errorf("%+v", a.Guard)
	}
}

func TestRateLimitsWithoutAKnownEndLastLongerAndLonger(t *testing.T) {
	t.Parallel()
	a, at := lucky(), noon
	for _, minutes := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		a, _ = a.RunEnded(setbackOf(agent.RateLimited, time.Time{}, at), at)
		if a.Guard.Until.Sub(at) != time.Duration(minutes)*time.Minute {
			t.Errorf("%d: %+v", minutes, a.Guard)
		}
		again, happened := a.RunEnded(setbackOf(agent.RateLimited, time.Time{}, at), at) // a second run met the same limit
		if happened != nil || again.Guard != a.Guard || again.Version != a.Version {
			t.Errorf("%d: %+v", minutes, again.Guard)
		}
		at = a.Guard.Until
		a, _ = a.Lapse(at)
	}
}

// TestHoldsOverWeeks lets an agent work on random issues with random outcomes.
func TestHoldsOverWeeks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, at := ada(agent.Active), noon
		type open struct {
			issue id.Issue
			start time.Time
		}
		var runs []open
		issues := rapid.IntRange(1, 4).Draw(t, "issues")
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "seconds")) * time.Second)
			if !a.IsWaiting(len(runs), at) && len(runs) < 3 {
				if a.Guard.IsOver(at) {
					a, _ = a.Lapse(at)
				}
				runs = append(runs, open{id.Issue(fmt.Sprint(rapid.IntRange(1, issues).Draw(t, "issue"))), at})
				if a.Guard.HasTrial() && len(runs) > 1 {
					t.Fatal("two runs are on trial at once")
				}
			}
			if len(runs) == 0 {
				if longest := a.Stats.RetryAt.Sub(at); longest > agent.LongestLimit {
					t.Fatalf("it waits for %v", longest)
				}
				if a.Stats.RetryAt.After(at) && rapid.Bool().Draw(t, "waits") {
					at = a.Stats.RetryAt
					if a.IsWaiting(0, at) {
						t.Fatal("a hold does not end")
					}
				}
				continue
			}
			ended := agent.EndedRun{
				Issue: runs[0].issue, StartedAt: runs[0].start, HasProgress: rapid.Bool().Draw(t, "progress"),
				Outcome: agent.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")),
			}
			if ended.Outcome == agent.Setbacked {
				kinds := []agent.SetbackKind{agent.RateLimited, agent.AuthenticationFailed, agent.AdapterFailed}
				ended.Setback = &agent.Setback{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
				if rapid.Bool().Draw(t, "known") {
					ended.Setback.Until = at.Add(time.Duration(rapid.IntRange(-1000, 20*24*60).Draw(t, "until")) * time.Minute)
				}
			}
			runs = runs[1:]
			before := a
			next, happened := a.RunEnded(ended, at)
			a = next
			if (happened != nil) != (before.Guard.IsHeld() != a.Guard.IsHeld() || !before.Guard.From.Equal(a.Guard.From)) {
				t.Fatalf("%+v, %+v: %v", before.Guard, a.Guard, happened)
			}
			if a.Guard.Reason == agent.QuickFailure && issues == 1 {
				t.Fatal("one issue holds the agent")
			}
		}
	})
}
