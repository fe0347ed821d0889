package work

import (
	"context"
	"slices"
	"time"

	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/run"
	"holdco/ports/store"
)

// LiveLeases returns the runs of an agent of a company whose leases are live at an instant, oldest first.
func LiveLeases(ctx context.Context, runs store.RunReader, c company.Company, a agent.Agent, at time.Time) ([]run.Run, error) {
	found, err := runs.OpenOfAgent(ctx, a.ID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	in, err := Circumstances(ctx, runs, c, a, at)
	return slices.DeleteFunc(found, func(one run.Run) bool { return !one.IsLive(in) }), err
}

// Circumstances are what decides whether a lease of an agent is live, without what explains why it is not.
func Circumstances(
	ctx context.Context, runs store.RunReader, c company.Company, a agent.Agent, at time.Time,
) (run.Circumstances, error) {
	next, _, _, err := NextSweep(ctx, runs, at) // the grace that it gives counts already
	return run.Circumstances{Now: at, GraceUntil: next.GraceUntil, Epoch: c.LeaseEpoch, AgentRetired: !a.IsEmployed()}, err
}

// NextSweep returns what run.Sweep.Next says of the next sweep, if that comes at an instant.
func NextSweep(ctx context.Context, runs store.RunReader, at time.Time) (next run.Sweep, isNew, mayEnd bool, err error) {
	state, hasOpen, err := runs.Sweep(ctx)
	var oldest time.Time
	if err == nil && hasOpen && state.HasPaused(at) {
		oldest, err = runs.OldestOpen(ctx)
	}
	next, isNew, mayEnd = state.Next(at, hasOpen, oldest)
	return next, isNew, mayEnd, err
}
