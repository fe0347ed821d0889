package leases

import (
	"context"
	"time"

	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// setback returns why what runs the agent could not work: the caller says so, or the code of the failure does; nil: it could.
func setback(end inbound.LeaseEnd, at time.Time) *agent.Setback {
	switch {
	case end.Action != issue.Release:
		return nil
	case end.Setback != nil || end.Failure.Code == nil:
		return end.Setback
	}
	after := time.Duration(0)
	if end.Failure.RetryAfter != nil {
		after = time.Duration(*end.Failure.RetryAfter) * time.Second
	}
	return agent.ParseSetback(*end.Failure.Code, after, at)
}

// failureOf parses why an agent gave up, or gives the issue back; empty: it does not say.
func failureOf(end inbound.LeaseEnd, problems *fault.Problems) (failure issue.Failure) {
	sent := end.Failure
	if end.Action == issue.Fail || sent.Code != nil || sent.Message != nil || sent.RetryAfter != nil {
		failure = run.ParseFailure(sent, problems)
	}
	return failure
}

// outcomes are what the ends of runs say about their agents. Release says nothing without a setback.
var outcomes = map[issue.Action]agent.Outcome{
	issue.Complete: agent.Worked, issue.HandOff: agent.Worked, issue.Fail: agent.Failed, issue.Release: agent.Neutral,
}

// judge decides what follows for the agent from the end of the run. It reads and writes nothing after a success that follows a success.
func (e ender) judge(ctx context.Context, setback *agent.Setback, failure issue.Failure) error {
	ended := agent.EndedRun{
		Issue: e.Run.Issue, StartedAt: e.Run.StartedAt, Outcome: outcomes[e.sent.Action],
		HasProgress: e.Run.Charges > 0 || e.Run.Checkpoints > 0, Setback: setback, Error: failure.Error,
	}
	if setback != nil {
		ended.Outcome = agent.Setbacked
	}
	if e.Agent.IsTried(ended) {
		return nil
	}
	current, err := e.tx.Agents().Lock(ctx, e.Agent.ID)
	if err != nil {
		return err
	}
	next, happened := current.RunEnded(ended, e.at)
	if next.Version == current.Version {
		return nil
	}
	if err := e.tx.Agents().Save(ctx, next); err != nil || happened == nil {
		return err
	}
	return e.tx.Record(ctx, happened.By(e.actor))
}

// mayTry reports whether failures keep the agent of the candidate from new work. The clock is only read after a failure.
func (found *candidate) mayTry(ctx context.Context, in reading, openRuns int) (bool, error) {
	a := found.agent
	if a.Stats.RetryAt.IsZero() && !a.Guard.IsHeld() {
		return true, nil
	}
	at, err := in.now(ctx)
	return err == nil && !a.IsWaiting(openRuns, at), err
}

// lapse ends the hold of the agent of the candidate if it is over.
func (found *candidate) lapse(ctx context.Context, tx store.Tx, by event.Actor, at time.Time) error {
	if !found.agent.Guard.IsOver(at) {
		return nil
	}
	current, err := tx.Agents().Lock(ctx, found.agent.ID)
	if err != nil || !current.Guard.IsOver(at) {
		return err
	}
	next, released := current.Lapse(at)
	if err := tx.Agents().Save(ctx, next); err != nil {
		return err
	}
	found.agent = next
	return tx.Record(ctx, released.By(by))
}
