package costs

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/money"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Costs.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Costs = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// Adjust corrects an entry, and with it what its run, its issue and its agent have cost.
func (s *Service) Adjust(
	ctx context.Context, caller access.Caller, of id.Company, draft cost.AdjustmentDraft, once idempotency.Request,
) (cost.Entry, error) {
	if err := caller.NeedsIn(access.Admin, of); err != nil {
		return cost.Entry{}, err
	}
	newID := id.New[id.Cost](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (cost.Entry, error) {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return cost.Entry{}, err
		}
		made, adjusted, err := cost.Adjust(newID, draft, entries{ctx, tx, of}, at)
		if err != nil {
			return made, err
		}
		return made, add(ctx, tx, made, adjusted.By(caller.Actor))
	})
}

// add keeps a correction.
func add(ctx context.Context, tx store.Tx, made cost.Entry, adjusted event.Event) error {
	r, err := tx.Runs().Lock(ctx, made.Run)
	if err != nil {
		return err
	}
	if err := tx.Runs().AddCharges(ctx, []cost.Entry{made}); err != nil {
		return err
	}
	if err := tx.Runs().Save(ctx, r.Adjust(made)); err != nil {
		return err
	}
	if err := tx.Issues().Charge(ctx, made.Issue, made.USD); err != nil {
		return err
	}
	if err := tx.Agents().Count(ctx, made.Agent, agent.Work{Spent: made.USD}); err != nil {
		return err
	}
	return tx.Record(ctx, adjusted)
}

// entries implements cost.Entries in a unit of work.
type entries struct {
	ctx context.Context //nolint:containedctx // of the unit
	tx  store.Tx
	of  id.Company
}

func (e entries) Corrected(which id.Cost) (of cost.Entry, by money.USD, err error) {
	if of, err = store.GetIn(e.ctx, e.tx.Costs(), e.of, which); err != nil {
		return of, 0, err
	}
	by, err = e.tx.Costs().Corrections(e.ctx, which)
	return of, by, err
}
