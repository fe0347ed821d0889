package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/fault"
	"holdco/ports/store"
)

var clockRules = []rule{
	{"the store's now is one instant of a unit, and another of each run", storeNowOfUnit},
	{"the store's now is one instant of a view, and each time another outside of one", storeNowOfReaders},
	{"to units that take turns the store's clock goes forward", storeNowGoesForward},
}

// storeNow fails unless the time by the store's clock is want.
func (f *fixture) storeNow(ctx context.Context, r interface {
	StoreNow(ctx context.Context) (time.Time, error)
}, want time.Time,
) {
	f.Helper()
	got, err := r.StoreNow(ctx)
	f.ok(err)
	f.same(got, want)
}

func storeNowOfUnit(f *fixture) {
	began := f.clock.Now()
	for run := range 2 {
		f.update(func(ctx context.Context, tx store.Tx) error {
			now := began.Add(time.Duration(run) * 2 * time.Minute)
			f.same(tx.Now(), now)
			f.clock.Advance(time.Minute)
			f.storeNow(ctx, tx, now.Add(time.Minute)) // read here, not when the unit began
			f.clock.Advance(time.Minute)
			f.storeNow(ctx, tx, now.Add(time.Minute))
			f.same(tx.Now(), now)
			return nil
		})
	}
}

func storeNowOfReaders(f *fixture) {
	began := f.clock.Now()
	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		for range 2 {
			f.storeNow(ctx, r, began)
			f.clock.Advance(time.Minute)
		}
		return nil
	}))
	f.storeNow(f.ctx, f.store, began.Add(2*time.Minute))
	f.clock.Advance(time.Minute)
	f.storeNow(f.ctx, f.store, began.Add(3*time.Minute))
}

// storeNowGoesForward lets the clock go on while each of many units has the turn, and others wait for it.
func storeNowGoesForward(f *fixture) {
	acme := f.found("acme")
	var seen []time.Time // by those who had the turn
	f.exactly(together(crowd, func(int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if err := tx.Turn(ctx, acme.ID); err != nil {
				return err
			}
			now, err := tx.StoreNow(ctx)
			if err != nil {
				return err
			}
			seen = append(seen, now)
			f.clock.Advance(time.Millisecond)
			_, err = tx.Companies().Lock(ctx, acme.ID)
			return err
		})
	}), map[fault.Code]int{"": crowd})
	if len(seen) != crowd || !slices.IsSortedFunc(seen, time.Time.Compare) || seen[0].Equal(seen[crowd-1]) {
		f.Errorf("%d units saw, in this order: %v", crowd, seen)
	}
}
