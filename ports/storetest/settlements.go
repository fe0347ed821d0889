package storetest

import (
	"context"
	"slices"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/store"
)

var settlementRules = []rule{
	{"a settlement reads back, and is gone once it is removed", settlementReadsBack},
	{"the first settlement of each company is pending", pendingSettlements},
	{"the settlements of all companies are counted", countSettlements},
}

// newSettlement makes a settlement that is in no store yet.
func (f *fixture) newSettlement(of id.Company) store.Settlement {
	return store.Settlement{
		ID: id.New[id.Settlement](f.ids.UUIDv7()), Company: of, Kind: store.CancelBelow, Subject: "iss_some", Actor: actor,
	}
}

func beginning(s store.Settlement) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Settlements().Add(ctx, s)
	}
}

func finishing(which id.Settlement) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Settlements().Remove(ctx, which)
	}
}

func settlementReadsBack(f *fixture) {
	acme := f.found("acme").ID
	bare, full := f.newSettlement(acme), f.newSettlement(acme)
	full.Kind, full.Subject, full.Other, full.After = store.Replace, "iss_old", "iss_new", "iss_last"
	full.Epoch = 1<<53 + 1
	full.Actor = event.Actor("user:" + texts[0])
	for _, s := range []store.Settlement{bare, full} {
		f.update(beginning(s))
	}
	for _, s := range []store.Settlement{bare, full} {
		pending, err := f.store.Settlements().Pending(f.ctx, 10)
		f.ok(err)
		f.same(pending, []store.Settlement{s})
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			locked, err := tx.Settlements().Lock(ctx, s.ID)
			if err != nil {
				return err
			}
			f.same(locked, s)
			return tx.Settlements().Remove(ctx, s.ID)
		})
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Settlements().Lock(ctx, s.ID)
			return err
		})
		f.refused(fault.Internal, finishing(s.ID))
	}
	f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Settlements().Lock(ctx, "")
		return err
	})
}

func pendingSettlements(f *fixture) {
	companies := []id.Company{f.found("one").ID, f.found("two").ID, f.found("three").ID}
	var all []store.Settlement
	for n := range 7 {
		s := f.newSettlement(companies[[]int{1, 0, 1, 1, 2, 0, 2}[n]])
		all = append(all, s)
	}
	for _, s := range slices.Backward(all) { // the order of their ids counts
		f.update(beginning(s))
	}
	gone := f.found("gone", func(c *company.Company) { c.Status = company.Deleting }).ID
	f.update(beginning(f.newSettlement(gone)))
	pending := func(most int, want ...int) {
		f.Helper()
		var list []store.Settlement
		for _, n := range want {
			list = append(list, all[n])
		}
		got, err := f.store.Settlements().Pending(f.ctx, most)
		f.ok(err)
		f.same(got, list)
	}
	pending(10, 0, 1, 4)
	pending(2, 0, 1)
	f.update(finishing(all[0].ID))
	pending(10, 1, 2, 4)
	for _, n := range []int{1, 5} {
		f.update(finishing(all[n].ID))
	}
	pending(10, 2, 4)
	f.update(func(ctx context.Context, tx store.Tx) error { // as a unit sees it
		tx.Unrecorded()
		if err := tx.Settlements().Remove(ctx, all[2].ID); err != nil {
			return err
		}
		got, err := tx.Settlements().Pending(ctx, 1)
		f.same(got, []store.Settlement{all[3]})
		return err
	})
	pending(10, 3, 4)
}

func countSettlements(f *fixture) {
	is := func(count int, least id.Settlement) {
		f.Helper()
		got, gotLeast, err := f.store.Settlements().Count(f.ctx)
		f.ok(err)
		f.same(got, count)
		f.same(gotLeast, least)
	}
	is(0, "")
	first, second, third := f.newSettlement(f.found("one").ID), f.newSettlement(f.found("two").ID), f.newSettlement("cmp_one")
	for n, s := range []store.Settlement{third, second, first} {
		f.update(beginning(s))
		is(n+1, s.ID)
	}
	f.update(finishing(second.ID))
	is(2, first.ID)
	f.update(finishing(first.ID))
	is(1, third.ID)
	f.update(func(ctx context.Context, tx store.Tx) error { // as a unit sees it
		tx.Unrecorded()
		if err := tx.Settlements().Remove(ctx, third.ID); err != nil {
			return err
		}
		got, least, err := tx.Settlements().Count(ctx)
		f.same(got, 0)
		f.same(least, id.Settlement(""))
		return err
	})
}

func (f *fixture) settlementWrites() map[string]writeCase {
	acme := f.found("with-settlements").ID
	locked, removed, newcomer := f.newSettlement(acme), f.newSettlement(acme), f.newSettlement(acme)
	f.update(beginning(locked))
	f.update(beginning(removed))
	return map[string]writeCase{
		"Settlements.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Settlements().Lock(ctx, locked.ID)
			return err
		}},
		"Settlements.Add":    {changes, func(ctx context.Context, tx store.Tx) error { return tx.Settlements().Add(ctx, newcomer) }},
		"Settlements.Remove": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Settlements().Remove(ctx, removed.ID) }},
	}
}
