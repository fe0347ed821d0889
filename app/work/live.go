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
	state, oldest, err := runs.Sweep(ctx)
	state, _, _ = state.Next(at, oldest) // the grace that the next sweep gives counts too
	return run.Circumstances{Now: at, GraceUntil: state.GraceUntil, Epoch: c.LeaseEpoch, AgentRetired: !a.IsEmployed()}, err
}
