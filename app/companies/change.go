package companies

import (
	"context"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/store"
)

// Update merges a patch into a company. One of its budget changes an envelope, in the turn of the company.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, which id.Company, patch company.Patch, match precondition.Match,
) (company.Company, error) {
	if patch.Budget == nil {
		return s.change(ctx, caller, which, match, idempotency.Request{},
			func(c company.Company, at time.Time) (company.Company, *event.Event, error) {
				return c.Apply(patch, s.settings.Adapters, at)
			})
	}
	if err := caller.NeedsIn(access.Write, which); err != nil {
		return company.Company{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: which, Begins: store.InTurn}
	return store.ChangeReading(ctx, s.store, request, which, store.Tx.Companies,
		func(ctx context.Context, tx store.Tx, c company.Company) (company.Company, *event.Event, error) {
			next, updated, err := c.Apply(patch, s.settings.Adapters, tx.Now())
			if err != nil || updated == nil || next.Budget == c.Budget {
				return next, updated, err
			}
			next, err = s.rebudget(ctx, tx, c, next, caller.Actor)
			return next, updated, err
		})
}

// rebudget follows from another budget of a company.
func (s *Service) rebudget(
	ctx context.Context, tx store.Tx, before, next company.Company, by event.Actor,
) (company.Company, error) {
	isOtherPeriod := next.Budget.Period != before.Budget.Period
	if isOtherPeriod { // what the reserve gave was for a period of the former kind
		if err := tx.Envelopes().EndTopups(ctx, next.ID); err != nil {
			return next, err
		}
	}
	teams, err := tx.Envelopes().TeamBudgets(ctx, next.ID, "")
	if err != nil {
		return next, err
	}
	if err := next.Budget.Holds(teams); err != nil {
		return next, err
	}
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return next, err
	}
	unit := work.In(tx, s.ids, next.ID, by)
	if isOtherPeriod {
		if err := unit.RecountTeams(ctx, next, at); err != nil {
			return next, err
		}
	}
	account, err := unit.Account(ctx, string(next.ID))
	if err != nil {
		return next, err
	}
	isOver, err := unit.Rebudget(ctx, at, work.CompanyEnvelope(next, account))
	if err != nil || !isOver {
		return next, err
	}
	next.LeaseEpoch++
	return next, unit.Revoke(ctx, next.LeaseEpoch, run.OverBudget)
}

// Archive hides a company from lists until it is restored or deleted. Its leases end.
func (s *Service) Archive(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
) (company.Company, error) {
	if err := caller.NeedsIn(access.Write, which); err != nil {
		return company.Company{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: which, Begins: store.InTurn}
	return store.ChangeReading(ctx, s.store, request, which, store.Tx.Companies,
		func(ctx context.Context, tx store.Tx, c company.Company) (company.Company, *event.Event, error) {
			next, archived, err := c.Archive(tx.Now(), s.settings.Retention)
			if err != nil {
				return c, nil, err
			}
			unit := work.In(tx, s.ids, which, caller.Actor)
			return next, &archived, unit.Revoke(ctx, next.LeaseEpoch, run.CompanyArchived)
		})
}

// Restore reverses Archive while the company can be restored.
func (s *Service) Restore(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
) (company.Company, error) {
	return s.change(ctx, caller, which, match, once,
		func(c company.Company, at time.Time) (company.Company, *event.Event, error) {
			next, restored, err := c.Restore(at)
			return next, &restored, err
		})
}
