package prices

import (
	"context"
	"time"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/price"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Prices.
type Service struct {
	store  store.Store
	cached *cache.Prices
}

var _ inbound.Prices = (*Service)(nil)

// New returns the use cases. The cache is shared by those that charge.
func New(s store.Store, cached *cache.Prices) *Service { return &Service{store: s, cached: cached} }

// Get returns the table.
func (s *Service) Get(ctx context.Context, caller access.Caller) (price.Table, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return price.Table{}, err
	}
	return s.store.Prices().Get(ctx)
}

// Import replaces all models by those of a file.
func (s *Service) Import(
	ctx context.Context, caller access.Caller, file price.File,
) (table price.Table, counts price.Changes, err error) {
	table, err = s.change(ctx, caller, func(current price.Table, at time.Time) (next price.Table, happened *event.Event, err error) {
		next, counts, happened = current.Import(file, at)
		return next, happened, nil
	})
	return table, counts, err
}

// Set gives a model a price.
func (s *Service) Set(ctx context.Context, caller access.Caller, model string, draft price.Draft) (set price.Model, err error) {
	_, err = s.change(ctx, caller, func(current price.Table, at time.Time) (next price.Table, happened *event.Event, err error) {
		next, set, happened, err = current.Set(model, draft, at)
		return next, happened, err
	})
	return set, err
}

// Remove removes a model.
func (s *Service) Remove(ctx context.Context, caller access.Caller, model string) (removed price.Model, err error) {
	_, err = s.change(ctx, caller, func(current price.Table, at time.Time) (next price.Table, happened *event.Event, err error) {
		next, removed, happened, err = current.Remove(model, at)
		return next, happened, err
	})
	return removed, err
}

// SetFallback changes what tokens of models without a price cost.
func (s *Service) SetFallback(ctx context.Context, caller access.Caller, draft price.Draft) (price.Fallback, error) {
	table, err := s.change(ctx, caller, func(current price.Table, at time.Time) (price.Table, *event.Event, error) {
		return current.SetFallback(draft, at)
	})
	return table.Fallback, err
}

// change is the shape of all changes: lock the table, ask the domain, save, record the event. Without an event nothing has changed,
// and nothing is saved.
func (s *Service) change(
	ctx context.Context, caller access.Caller,
	move func(current price.Table, at time.Time) (price.Table, *event.Event, error),
) (next price.Table, err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return next, err
	}
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		current, err := tx.Prices().Lock(ctx)
		if err != nil {
			return err
		}
		var happened *event.Event
		if next, happened, err = move(current, tx.Now()); err != nil || happened == nil {
			return err
		}
		if err := tx.Prices().Save(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By(caller.Actor))
	})
	return next, err
}

// Follow looks for a new revision of the prices, by which this process charges from then on.
func (s *Service) Follow(ctx context.Context) (more bool, err error) {
	return false, s.cached.Follow(ctx, s.store.Prices())
}
