package budget

import (
	"time"

	"holdco/domain/money"
)

// Envelopes are those that a lease is granted under: of its company, its team, its agent, its issue, and what that is for.
type Envelopes []Envelope

// Available is the least that any of them has.
func (all Envelopes) Available() Limit { return all.Left(0) }

// Left is the least that a lease that has reserved an amount may still spend under any of them.
func (all Envelopes) Left(reserved money.USD) Limit {
	var least Limit
	for _, e := range all {
		if has := e.Left(reserved); has.IsSet && (!least.IsSet || has.USD < least.USD) {
			least = has
		}
	}
	return least
}

// Need is what a lease reserves: what is left for its issue, or, if that has no limit, as much of usual as there is. A lease is
// granted if that is more than nothing and available in every envelope.
func (all Envelopes) Need(usual money.USD) (need money.USD, isGranted bool) {
	available := all.Available()
	for _, e := range all {
		if has := e.Available(); e.Scope == OfIssue && has.IsSet {
			return has.USD, has.USD > 0 && has.USD <= available.USD
		}
	}
	if need = usual; available.IsSet {
		need = min(need, available.USD)
	}
	return need, need > 0
}

// WasShort reports whether claims were likely refused for want of an amount that is given back now: less than that was available. Waking
// them all whenever a lease ends would cost far more than it brings. A claim that needs more, and would now be granted, is woken with
// all others, seconds later.
func (all Envelopes) WasShort(givenBack money.USD) bool {
	available := all.Available()
	return givenBack > 0 && available.IsSet && available.USD < givenBack
}

// IsFull reports whether no lease at all can be granted.
func (all Envelopes) IsFull() bool {
	_, lack := all.Lack()
	return lack != NoLack
}

// Lack returns the scope of the first envelope that allows no lease at all, and why it does not.
func (all Envelopes) Lack() (Scope, Lack) {
	for _, e := range all {
		if lack := e.Lack(); lack != NoLack {
			return e.Scope, lack
		}
	}
	return "", NoLack
}

// Hold reserves an amount, or gives some of it back if it is negative.
func (all Envelopes) Hold(amount money.USD) {
	for n := range all {
		all[n].Account.Held += amount
	}
}

// Charge counts what was spent, and of that what a lease had reserved.
func (all Envelopes) Charge(spent, reserved money.USD) {
	for n := range all {
		all[n].Account.Spent += spent
		all[n].Account.Held -= reserved
	}
}

// Level is the highest level that any of them has reached.
func (all Envelopes) Level() Level {
	highest := None
	for _, e := range all {
		if level := e.Level(); level.IsAtLeast(highest) {
			highest = level
		}
	}
	return highest
}

// FinishBy is when a lease under them ends, because a limit is reached; zero: none is.
func (all Envelopes) FinishBy() time.Time {
	var first time.Time
	for _, e := range all {
		if by := e.FinishBy(); !by.IsZero() && (first.IsZero() || by.Before(first)) {
			first = by
		}
	}
	return first
}
