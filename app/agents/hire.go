package agents

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/team"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Hire makes an agent in the oldest empty slot of a team.
func (s *Service) Hire(
	ctx context.Context, caller access.Caller, of id.Company, draft agent.Draft, once idempotency.Request,
) (inbound.HiredAgent, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return inbound.HiredAgent{}, err
	}
	token := access.NewAgentToken(s.entropy.Bits256())
	newID := id.New[id.Agent](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	hired, err := store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (agent.Agent, error) {
		made, err := agent.New(newID, of, c.DefaultAdapter, draft, token, func(team id.Team) (bool, error) {
			_, err := store.GetIn(ctx, tx.Teams(), of, team)
			return store.Exists(err)
		}, s.rules(caller), tx.Now())
		if err != nil {
			return agent.Agent{}, err
		}
		return seat(ctx, tx, c, made, caller)
	})
	return inbound.HiredAgent{Agent: hired, Token: token}, err
}

// holdsDaily refuses a daily budget of an agent that its team does not have, beside those of its other agents.
func holdsDaily(ctx context.Context, tx store.Tx, c company.Company, in team.Team, a agent.Agent) error {
	if !in.Budget.IsSet || !a.Budget.Daily.IsSet {
		return nil
	}
	others, err := tx.Envelopes().DailyBudgets(ctx, in.ID, a.ID)
	if err != nil {
		return err
	}
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	return in.Budget.HoldsDaily(others+a.Budget.Daily.USD, c.Budget.Period.Days(at))
}

// seat gives a new agent a slot of its team, counts it, and records it.
func seat(ctx context.Context, tx store.Tx, c company.Company, made agent.Agent, caller access.Caller) (agent.Agent, error) {
	team, err := tx.Teams().Lock(ctx, made.Team)
	if err != nil {
		return made, err
	}
	if team, err = team.Hire(); err != nil {
		return made, err
	}
	if err := holdsDaily(ctx, tx, c, team, made); err != nil {
		return made, err
	}
	slot, err := tx.Teams().FillSlot(ctx, team.ID, made.ID)
	if err != nil {
		return made, err
	}
	hired, happened := made.Hired(slot)
	if err := tx.Agents().Add(ctx, hired); err != nil {
		return made, err
	}
	if err := tx.Teams().Save(ctx, team); err != nil {
		return made, err
	}
	if err := tx.Companies().Save(ctx, c.Counting(0, 1)); err != nil {
		return made, err
	}
	return hired, tx.Record(ctx, happened.By(caller.Actor))
}
