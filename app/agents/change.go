package agents

import (
	"context"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Update merges a patch into an agent.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, patch agent.Patch, match precondition.Match,
) (agent.Agent, error) {
	return s.change(ctx, caller, of, which, match, idempotency.Request{},
		func(ctx context.Context, tx store.Tx, c company.Company, a agent.Agent) (agent.Agent, *event.Event, error) {
			next, updated, err := a.Apply(patch, s.rules(caller), tx.Now())
			if err == nil && next.Budget != a.Budget {
				err = s.rebudget(ctx, tx, c, a.Budget, next, caller.Actor)
			}
			return next, updated, err
		})
}

// rebudget follows from another budget of an agent. With another limit for each issue, those that it works on and that have none of
// their own have another limit too; for the others it is looked at when a lease is granted.
func (s *Service) rebudget(
	ctx context.Context, tx store.Tx, c company.Company, before agent.Budget, next agent.Agent, by event.Actor,
) error {
	in, err := tx.Teams().Get(ctx, next.Team)
	if err != nil {
		return err
	}
	if err := holdsDaily(ctx, tx, c, in, next); err != nil {
		return err
	}
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	var open []run.Run
	if next.Budget.PerTask != before.PerTask {
		if open, err = tx.Runs().OpenOfAgent(ctx, next.ID); err != nil {
			return err
		}
	}
	ids := []string{string(next.ID)}
	for _, r := range open {
		ids = append(ids, string(r.Issue))
	}
	accounts, err := tx.Envelopes().Accounts(ctx, c.ID, ids...)
	if err != nil {
		return err
	}
	changed := budget.Envelopes{work.AgentEnvelope(next, accounts[string(next.ID)])}
	for _, r := range open {
		i, err := tx.Issues().Get(ctx, r.Issue)
		if err != nil {
			return err
		}
		if !i.PerTask.IsSet {
			changed = append(changed, work.IssueEnvelope(i, next.Budget.PerTask, r.Held, accounts[string(i.ID)]))
		}
	}
	_, err = work.In(tx, s.ids, c.ID, by).Rebudget(ctx, at, changed...)
	return err
}

// Pause keeps new work from an agent.
func (s *Service) Pause(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
) (agent.Agent, error) {
	return s.change(ctx, caller, of, which, match, once, moving(agent.Agent.Pause))
}

// Resume reverses Pause.
func (s *Service) Resume(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
) (agent.Agent, error) {
	return s.change(ctx, caller, of, which, match, once, moving(agent.Agent.Resume))
}

// ReleaseHold ends the hold of an agent, which gets work at once.
func (s *Service) ReleaseHold(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
) (agent.Agent, error) {
	return s.change(ctx, caller, of, which, match, once, moving(agent.Agent.ReleaseHold))
}

// Retire ends an agent for good, and frees its slot.
func (s *Service) Retire(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
) (agent.Agent, error) {
	defer s.cached.Invalidate()
	return s.change(ctx, caller, of, which, match, once,
		func(ctx context.Context, tx store.Tx, c company.Company, a agent.Agent) (agent.Agent, *event.Event, error) {
			next, retired, err := a.Retire(tx.Now())
			if err != nil {
				return a, nil, err
			}
			team, err := tx.Teams().Lock(ctx, a.Team)
			if err != nil {
				return a, nil, err
			}
			if err := tx.Teams().Save(ctx, team.Retire()); err != nil {
				return a, nil, err
			}
			if err := tx.Teams().FreeSlot(ctx, a.Slot); err != nil {
				return a, nil, err
			}
			if err := tx.Companies().Save(ctx, c.Counting(0, -1)); err != nil {
				return a, nil, err
			}
			unit := work.In(tx, s.ids, of, caller.Actor)
			return next, &retired, unit.Begin(ctx, store.Settlement{Kind: store.Abandon, Subject: string(a.ID)})
		})
}

// RotateToken gives an agent a new token.
func (s *Service) RotateToken(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
) (inbound.HiredAgent, error) {
	defer s.cached.Invalidate()
	token := access.NewAgentToken(s.entropy.Bits256())
	rotated, err := s.change(ctx, caller, of, which, match, once,
		moving(func(a agent.Agent, at time.Time) (agent.Agent, event.Event, error) { return a.RotateToken(token, at) }))
	return inbound.HiredAgent{Agent: rotated, Token: token}, err
}

// move decides what becomes of an agent.
type move = func(ctx context.Context, tx store.Tx, c company.Company, a agent.Agent) (agent.Agent, *event.Event, error)

// change updates one agent if the caller may write to its company.
func (s *Service) change(
	ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request, to move,
) (agent.Agent, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return agent.Agent{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: of}
	return store.ChangeIn(ctx, s.store, request, store.ByID(which), store.Tx.Agents, to)
}

// moving is a move that needs nothing but the agent.
func moving(to func(a agent.Agent, at time.Time) (agent.Agent, event.Event, error)) move {
	return func(_ context.Context, tx store.Tx, _ company.Company, a agent.Agent) (agent.Agent, *event.Event, error) {
		next, happened, err := to(a, tx.Now())
		return next, &happened, err
	}
}
