package sqlstore

import (
	"context"
	"time"

	"holdco/ports/outbound"
)

// clocks are what a store takes the time from.
type clocks struct {
	process outbound.Clock // of this process
	store   outbound.Clock // takes the place of the engine's; nil: nothing does
}

// WithClock returns the same store, for which a clock takes the place of the engine's in StoreNow: tests move it.
func (s *Store) WithClock(clock outbound.Clock) *Store {
	set := *s
	set.clocks.store = clock
	return &set
}

// StoreNow implements store.Reader and store.Tx.
func (s session) StoreNow(ctx context.Context) (time.Time, error) {
	if s.instant != nil && !s.instant.IsZero() {
		return *s.instant, nil
	}
	var now time.Time
	err := s.lookup(ctx, func(ctx context.Context) (err error) {
		now, err = s.engine.Now(ctx, s.conn, s.clocks.process)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	if s.clocks.store != nil { // it is read once the engine has answered, when the unit has its turn
		now = s.clocks.store.Now()
	}
	if s.instant != nil {
		*s.instant = now
	}
	return now, nil
}
