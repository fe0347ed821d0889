package costs

import (
	"context"
	"slices"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
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
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (cost.Entry, error) {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return cost.Entry{}, err
		}
		made, adjusted, err := cost.Adjust(newID, draft, entries{ctx, tx, of}, at)
		if err != nil {
			return made, err
		}
		a := adjustment{tx, work.In(tx, s.ids, of, caller.Actor), c, made, at}
		return made, a.add(ctx, adjusted.By(caller.Actor))
	})
}

// adjustment keeps one correction.
type adjustment struct {
	tx   store.Tx
	unit *work.Unit
	of   company.Company
	made cost.Entry
	at   time.Time
}

func (a adjustment) add(ctx context.Context, adjusted event.Event) error {
	tx, made := a.tx, a.made
	r, err := tx.Runs().Lock(ctx, made.Run)
	if err != nil {
		return err
	}
	i, err := tx.Issues().Lock(ctx, made.Issue)
	if err != nil {
		return err
	}
	isOver, err := a.count(ctx, r, i)
	if err != nil {
		return err
	}
	if err := tx.Runs().AddCharges(ctx, []cost.Entry{made}); err != nil {
		return err
	}
	if err := tx.Runs().Save(ctx, r.Adjust(made)); err != nil {
		return err
	}
	if err := a.unit.ChargeLate(ctx, i, made.USD); err != nil {
		return err
	}
	if err := tx.Record(ctx, adjusted); err != nil || !isOver {
		return err
	}
	return a.unit.Overspent(ctx, a.at)
}

// count adds the correction to the envelopes of the run, where it is in their current period.
func (a adjustment) count(ctx context.Context, r run.Run, i issue.Issue) (isOver bool, err error) {
	by, err := a.tx.Agents().Get(ctx, r.Agent)
	if err != nil {
		return false, err
	}
	accounts, err := a.tx.Envelopes().Accounts(ctx, a.of.ID, append(r.Envelopes(), string(i.ID))...)
	if err != nil {
		return false, err
	}
	before := work.EnvelopesOf(a.of, by, r, i, accounts)
	next := slices.Clone(before)
	if err := work.Current(ctx, a.tx.Envelopes(), next, a.at); err != nil {
		return false, err
	}
	for n, e := range next {
		if !a.made.At.Before(e.Account.Start) {
			e.Account.Spent += a.made.USD
			next[n] = e.Raised() // what was spent may have become less
		}
	}
	isOver, err = a.unit.Keep(ctx, before, next, a.at)
	if err == nil && a.made.USD < 0 {
		err = a.tx.Envelopes().Freed(ctx, a.of.ID)
	}
	return isOver, err
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
