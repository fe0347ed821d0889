package storetest

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/fault"
	"holdco/domain/price"
	"holdco/ports/store"
)

var priceRules = []rule{
	{"the prices of a new store are those of the program", pricesOfANewStore},
	{"prices read back as they were saved, thousands too", pricesReadBack},
	{"prices are saved with the next revision alone", pricesInOrder},
	{"of many who change the prices at once, each sees what the ones before it did", pricesTogether},
}

func savingPrices(t price.Table) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Prices().Lock(ctx); err != nil {
			return err
		}
		return tx.Prices().Save(ctx, t)
	}
}

func somePrices(f *fixture) unit { return savingPrices(f.nextPrices()) }

// nextPrices is a table that can be saved, which has all that a table can have.
func (f *fixture) nextPrices() price.Table {
	f.Helper()
	current, err := f.store.Prices().Get(f.ctx)
	f.ok(err)
	return price.Table{
		Revision: current.Revision + 1, Snapshot: "2026-01-02", ChangedAt: f.clock.Now().Add(time.Millisecond),
		Fallback: price.Fallback{Input: price.Most, Output: 1},
		Models: []price.Model{
			{ID: `It's "Ä" \ 🦆 <&>`, Input: price.Steps{{Price: 1}}, Output: price.Steps{{}}},
			{
				ID: "a/b", Provider: "a'",
				Input: price.Steps{{Price: 2}, {Above: 1000, Price: 3}}, Output: price.Steps{{Price: price.Most}},
				CacheRead: price.Steps{{}}, CacheWrite: price.Steps{{Above: 200_000, Price: 4}, {Above: 1_048_575_000}},
			},
		},
	}
}

func (f *fixture) pricesAre(want price.Table) {
	f.Helper()
	got, err := f.store.Prices().Get(f.ctx)
	f.ok(err)
	f.same(got, want)
	revision, err := f.store.Prices().Revision(f.ctx)
	f.ok(err)
	f.same(revision, want.Revision)
}

func (f *fixture) priceWrites() map[string]writeCase {
	next := f.nextPrices()
	return map[string]writeCase{
		"Prices.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Prices().Lock(ctx); return err }},
		"Prices.Save": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Prices().Save(ctx, next) }},
	}
}

func pricesOfANewStore(f *fixture) {
	f.pricesAre(price.Initial())
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		locked, err := tx.Prices().Lock(ctx)
		f.same(locked, price.Initial())
		return err
	})
}

func pricesReadBack(f *fixture) {
	want := f.nextPrices()
	f.update(savingPrices(want))
	f.pricesAre(want)
	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		got, err := r.Prices().Get(ctx)
		f.same(got, want)
		return err
	}))

	want = price.Table{Revision: 3, Fallback: price.Fallback{}, ChangedAt: want.ChangedAt}
	for n := range 3000 {
		steps := price.Steps{{Price: price.Price(n)}}
		want.Models = append(want.Models, price.Model{ID: fmt.Sprintf("model-%04d", n), Provider: "some", Input: steps, Output: steps})
	}
	f.update(savingPrices(want))
	f.pricesAre(want)

	want = price.Table{Revision: 4}
	f.update(savingPrices(want))
	f.pricesAre(want)
}

func pricesInOrder(f *fixture) {
	want := f.nextPrices()
	for _, revision := range []int64{0, 1, 3} {
		wrong := want
		wrong.Revision = revision
		f.refused(fault.Internal, savingPrices(wrong))
	}
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := savingPrices(want)(ctx, tx); err != nil {
			return err
		}
		got, err := tx.Prices().Get(ctx)
		f.ok(err)
		f.same(got, want)
		return errGivenUp
	})
	f.pricesAre(price.Initial())
	f.update(savingPrices(want))
	f.refused(fault.Internal, savingPrices(want))
	f.pricesAre(want)
}

func pricesTogether(f *fixture) {
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			current, err := tx.Prices().Lock(ctx)
			if err != nil {
				return err
			}
			current.Revision++
			current.Fallback.Input += price.Price(i)
			return tx.Prices().Save(ctx, current)
		})
	}), map[fault.Code]int{"": crowd})
	want := price.Initial()
	want.Revision += crowd
	want.Fallback.Input += crowd * (crowd - 1) / 2
	f.pricesAre(want)
}
