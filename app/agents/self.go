package agents

import (
	"context"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Me returns the agent that calls, with its team, its company and its leases, on one snapshot, and the prices of this process.
func (s *Service) Me(ctx context.Context, caller agent.Caller) (found inbound.AgentAtWork, err error) {
	if err := caller.MayRead(); err != nil {
		return found, err
	}
	prices, err := s.prices.Current(ctx, s.store.Prices())
	if err != nil {
		return found, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		found = inbound.AgentAtWork{Prices: prices.Revision()}
		if found.Agent, err = r.Agents().Get(ctx, caller.ID); err != nil {
			return gone(err)
		}
		if found.Company, err = r.Companies().Get(ctx, caller.Company); err != nil {
			return gone(err)
		}
		if _, err := found.Agent.AsCaller(found.Company); err != nil {
			return err
		}
		at, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		live, err := work.LiveLeases(ctx, r.Runs(), found.Company, found.Agent, at)
		if err != nil {
			return err
		}
		found.Leases = len(live)
		team, err := r.Teams().Get(ctx, found.Agent.Team)
		exists, err := store.Exists(err)
		if err != nil {
			return err
		}
		if exists {
			found.Team = &team
		}
		accounts, err := r.Envelopes().Accounts(ctx, caller.Company,
			string(caller.Company), string(found.Agent.Team), string(caller.ID))
		if err != nil {
			return err
		}
		found.Budgets = budget.Envelopes{
			work.CompanyEnvelope(found.Company, accounts[string(caller.Company)]),
			work.TeamEnvelope(found.Company, accounts[string(found.Agent.Team)]),
			work.AgentEnvelope(found.Agent, accounts[string(caller.ID)]),
		}
		return work.Current(ctx, r.Envelopes(), found.Budgets, at)
	})
	return found, err
}

// gone is the fault for a caller of which something is not found.
func gone(err error) error {
	if fault.CodeOf(err) == fault.NotFound {
		return access.Unauthorized("token")
	}
	return err
}
