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

// Update merges a patch into a company.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, which id.Company, patch company.Patch, match precondition.Match,
) (company.Company, error) {
	return s.change(ctx, caller, which, match, idempotency.Request{},
		func(c company.Company, at time.Time) (company.Company, *event.Event, error) {
			return c.Apply(patch, s.settings.Adapters, at)
		})
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
			if err := tx.Runs().Revoke(ctx, which, next.LeaseEpoch, run.CompanyArchived); err != nil {
				return c, nil, err
			}
			unit := work.In(tx, s.ids, which, caller.Actor)
			return next, &archived, unit.Begin(ctx, store.Settlement{Kind: store.Revoke, Epoch: next.LeaseEpoch})
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
