package agent

import (
	"time"

	"holdco/domain/anyjson"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Setback is why an agent gives an issue back without a failed attempt: what runs it could not work.
type Setback struct {
	Kind    SetbackKind
	Until   time.Time // of RateLimited: when the limit ends; zero: unknown
	Repeats bool      // the work may have been done all the same, so the issue is not given back without bound: see issue.MostRepeats
	Claimed bool      // a client of the gateway says so: it is believed for LongestClaimed at most
}

// SetbackKind is a kind of setback. It is also the code of the run's error, and the reason of a hold.
type SetbackKind string

// The kinds.
const (
	RateLimited          SetbackKind = "rate_limited"          // a limit of a provider or a subscription is spent
	AuthenticationFailed SetbackKind = "authentication_failed" // the credentials of the agent are missing or invalid
	AdapterFailed        SetbackKind = "adapter_failed"        // the adapter failed in any other way
)

// ParseSetback returns the setback that a client of the gateway reports by the code of an error. After is how long a limit lasts; 0:
// unknown. Any other code is no setback: nil.
func ParseSetback(code string, after time.Duration, at time.Time) *Setback {
	switch kind := SetbackKind(code); kind {
	case RateLimited, AuthenticationFailed, AdapterFailed:
		s := Setback{Kind: kind, Claimed: true}
		if kind == RateLimited && after > 0 {
			s.Until = at.Add(after)
		}
		return &s
	}
	return nil
}

// The bounds of waits after setbacks. After each of several in a row without a known end the agent waits twice as long as before.
const (
	firstRetry     = 5 * time.Second // of AdapterFailed
	lastRetry      = 5 * time.Minute
	firstLimit     = time.Minute // of RateLimited without a known end
	lastLimit      = time.Hour
	ShortestLimit  = time.Minute
	LongestLimit   = 8 * 24 * time.Hour
	LongestClaimed = time.Hour
	loginTrial     = time.Hour // until the first trial run after AuthenticationFailed
)

// Bounds of the breaker.
const (
	QuickRun      = time.Minute // a run that fails sooner, or without progress, failed quickly
	QuickFailures = 5           // that many in a row, on more than one issue, hold the agent
)

// QuickFailure is the reason of a hold after QuickFailures.
const QuickFailure = "repeated_failures"

// steps are how long holds last until the next trial run, by how many were in a row; the last one for all that follow.
var steps = [...]time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour}

// Guard keeps work from an agent whose runs fail. The zero Guard has seen no failure since the last success.
type Guard struct {
	Failures int      `json:"failures,omitempty"` // quick ones in a row
	Issue    id.Issue `json:"issue,omitempty"`    // of the first of them
	Several  bool     `json:"several,omitempty"`  // they were on several issues
	Holds    int      `json:"holds,omitempty"`    // in a row

	Reason string    `json:"reason,omitempty"` // of the hold: a SetbackKind or QuickFailure; empty: there is none
	Error  string    `json:"error,omitempty"`  // JSON, of the run that caused the hold; empty: none
	Runs   int       `json:"runs,omitempty"`   // how many failures caused the hold
	Since  time.Time `json:"since,omitzero"`   // the first hold of the row began
	From   time.Time `json:"from,omitzero"`    // the current hold began
	Until  time.Time `json:"until,omitzero"`   // there is no work before
}

// IsHeld reports whether there is a hold. After Until it still is one, but of a rate limit: then runs are on trial.
func (g Guard) IsHeld() bool { return g.Reason != "" }

// HasTrial reports whether the hold ends by a trial run, and not by itself.
func (g Guard) HasTrial() bool { return g.IsHeld() && g.Reason != string(RateLimited) }

// EndedRun is what a Guard has to know of a run that has ended.
type EndedRun struct {
	Issue       id.Issue
	StartedAt   time.Time
	Outcome     Outcome
	HasProgress bool     // it has a charge or a checkpoint
	Setback     *Setback // of Setbacked
	Error       string   // JSON; empty: none
}

// Outcome is what the end of a run says about its agent.
type Outcome int

// The outcomes.
const (
	Neutral   Outcome = iota // nothing: it was given back, cancelled or parked
	Worked                   // it completed its issue, or handed it to a person
	Failed                   // its attempt failed
	Setbacked                // it had a setback
)

// isQuick reports whether the run failed quickly: soon after its start, or without any progress.
func (r EndedRun) isQuick(at time.Time) bool {
	return (r.Outcome == Failed || r.Outcome == Setbacked) && (!r.HasProgress || at.Sub(r.StartedAt) < QuickRun)
}

// IsTried reports whether the end of a run changes nothing of the agent: neither has it waited, nor does it have to.
func (a Agent) IsTried(r EndedRun) bool {
	return r.Outcome == Neutral || r.Outcome == Worked && a.Guard == (Guard{}) && a.Stats.AdapterFailures == 0 && a.Stats.RetryAt.IsZero()
}

// RunEnded decides what follows for the agent from the end of one of its runs. It returns the next agent and the event to record, or no
// event when no hold begins or ends.
func (a Agent) RunEnded(r EndedRun, at time.Time) (Agent, *event.Event) {
	if a.IsTried(r) || a.Status == Retired {
		return a, nil
	}
	wasHeld := a.Guard.IsHeld()
	isLeftOver := wasHeld && r.StartedAt.Before(a.Guard.Until) // it was under way when the hold began
	if isLeftOver && r.Outcome != Setbacked {
		return a, nil
	}
	next := a
	switch {
	case r.Outcome == Worked, r.Outcome == Failed && !r.isQuick(at):
		next.clear()
	case r.Outcome == Failed:
		next.Stats.AdapterFailures, next.Stats.RetryAt = 0, time.Time{}
		next.failedQuickly(r, isLeftOver, at)
	case r.Setback.Kind == RateLimited:
		next.limited(r, isLeftOver, at)
	case r.Setback.Kind == AuthenticationFailed:
		if !isLeftOver || a.Guard.Reason != string(AuthenticationFailed) {
			next.hold(string(AuthenticationFailed), r, 1, max(loginTrial, next.Guard.step()), at)
		}
	default:
		next.adapterFailed(at)
		if r.isQuick(at) {
			next.failedQuickly(r, isLeftOver, at)
		}
	}
	if next.Guard == a.Guard && next.Stats == a.Stats {
		return a, nil
	}
	switch isHeld := next.Guard.IsHeld(); {
	case isHeld && (!wasHeld || !next.Guard.From.Equal(a.Guard.From)):
		next.changed(at)
		return next, new(next.event(event.AgentHeld))
	case wasHeld && !isHeld:
		next.changed(at)
		return next, new(next.event(event.AgentHoldReleased))
	}
	next.Version++
	return next, nil
}

// failedQuickly counts a quick failure, which holds the agent if it was the last of a row, or a trial. One of a run that was under
// way when a hold began says nothing new.
func (a *Agent) failedQuickly(r EndedRun, isLeftOver bool, at time.Time) {
	switch g := &a.Guard; {
	case isLeftOver:
	case g.HasTrial():
		a.hold(g.Reason, r, g.Runs+1, g.step(), at)
	default:
		g.Failures++
		if g.Issue == "" {
			g.Issue = r.Issue
		}
		g.Several = g.Several || g.Issue != r.Issue
		if g.Failures >= QuickFailures && g.Several {
			a.hold(QuickFailure, r, g.Failures, g.step(), at)
		}
	}
}

// step is how long the next hold lasts.
func (g Guard) step() time.Duration { return steps[min(g.Holds, len(steps)-1)] }

// hold keeps work from the agent for a while.
func (a *Agent) hold(reason string, r EndedRun, runs int, pause time.Duration, at time.Time) {
	if r.Setback != nil && r.Setback.Claimed {
		pause = min(pause, LongestClaimed)
	}
	g := Guard{
		Holds: a.Guard.Holds + 1, Reason: reason, Error: r.Error, Runs: runs, Since: a.Guard.Since, From: at, Until: at.Add(pause),
	}
	if !a.Guard.IsHeld() {
		g.Since = at
	}
	a.Guard = g
	a.waitUntil(g.Until)
}

// limited keeps work from the agent until its rate limit ends. Of several runs that meet one limit the one that knows best counts.
func (a *Agent) limited(r EndedRun, isLeftOver bool, at time.Time) {
	until := r.Setback.Until
	if until.IsZero() {
		if isLeftOver {
			return
		}
		until = at.Add(doubled(firstLimit, lastLimit, a.Stats.AdapterFailures))
	}
	longest := LongestLimit
	if r.Setback.Claimed {
		longest = LongestClaimed
	}
	until = at.Add(min(max(until.Sub(at), ShortestLimit), longest))
	if !isLeftOver {
		a.Stats.AdapterFailures++
	}
	if a.Guard.HasTrial() { // it ends by a trial, which has to wait for the limit
		if until.After(a.Guard.Until) {
			a.Guard.Until = until
		}
		a.waitUntil(until)
		return
	}
	if isLeftOver && !until.After(a.Guard.Until) {
		return
	}
	before := a.Guard
	a.hold(string(RateLimited), r, before.Runs+1, until.Sub(at), at)
	a.Guard.Holds, a.Guard.Failures, a.Guard.Issue, a.Guard.Several = before.Holds, before.Failures, before.Issue, before.Several
	if isLeftOver { // the same hold, which lasts longer
		a.Guard.From = before.From
	}
}

// adapterFailed counts a failure of the adapter of the agent, which gets no work for a while.
func (a *Agent) adapterFailed(at time.Time) {
	pause := doubled(firstRetry, lastRetry, a.Stats.AdapterFailures)
	a.Stats.AdapterFailures++
	a.waitUntil(at.Add(pause))
}

// doubled is a pause that was doubled so many times.
func doubled(first, last time.Duration, times int) time.Duration {
	pause := first
	for range times {
		if pause *= 2; pause >= last {
			return last
		}
	}
	return pause
}

func (a *Agent) waitUntil(at time.Time) {
	if at.After(a.Stats.RetryAt) {
		a.Stats.RetryAt = at
	}
}

// ReleaseHold ends the hold of the agent, which gets work at once. It fails with fault.InvalidTransition if there is none.
func (a Agent) ReleaseHold(at time.Time) (Agent, event.Event, error) {
	if a.Status == Retired || !a.Guard.IsHeld() {
		state := "not held"
		if a.Status == Retired {
			state = string(Retired)
		}
		return a, event.Event{}, fault.Transition(string(a.Status), string(ReleaseHold),
			"An agent that is %s has no hold to release.", state)
	}
	a.clear()
	a.changed(at)
	return a, a.event(event.AgentHoldReleased), nil
}

// tryAgain ends the wait after failures, if there is one.
func (a *Agent) tryAgain() {
	if a.Guard.IsHeld() || !a.Stats.RetryAt.IsZero() {
		a.clear()
	}
}

// clear forgets all failures.
func (a *Agent) clear() {
	a.Guard, a.Stats.AdapterFailures, a.Stats.RetryAt = Guard{}, 0, time.Time{}
}

// IsWaiting reports whether the agent gets no work because of failures: until an instant, or while one of its open runs is on trial.
func (a Agent) IsWaiting(openRuns int, at time.Time) bool {
	return at.Before(a.Stats.RetryAt) || a.Guard.HasTrial() && openRuns > 0
}

// IsOver reports whether the hold has ended by itself: that of a rate limit does.
func (g Guard) IsOver(at time.Time) bool { return g.IsHeld() && !g.HasTrial() && !at.Before(g.Until) }

// Lapse ends a hold that is over. How often limits without a known end came in a row is kept until a run succeeds.
func (a Agent) Lapse(at time.Time) (Agent, event.Event) {
	g := a.Guard
	a.Guard = Guard{Failures: g.Failures, Issue: g.Issue, Several: g.Several, Holds: g.Holds}
	a.changed(at)
	return a, a.event(event.AgentHoldReleased)
}

// hold is the hold as the API shows it; null: none.
func (g Guard) field() event.Field {
	if !g.IsHeld() {
		return event.F("hold", nil)
	}
	return event.F("hold", event.Fields{
		event.F("reason", g.Reason),
		event.F("error", anyjson.Shown(g.Error)),
		event.F("runs", g.Runs),
		event.F("since", instant.Format(g.Since)),
		event.F("until", instant.Format(g.Until)),
		event.F("trial", g.HasTrial()),
	})
}
