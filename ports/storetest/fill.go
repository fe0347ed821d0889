package storetest

import (
	"context"
	"slices"
	"testing"

	"holdco/ports/store"
)

// Fill fills a fresh, migrated store with rows in every table, and fails if it left one empty; but for the marks of a move and of a
// restoration, with which it could not be used. The store takes the time from clock and new ids from ids.
func Fill(t *testing.T, opened Opened, clock *Clock, ids *IDs) {
	t.Helper()
	f := &fixture{
		reporter: t, t: t, ctx: t.Context(), store: opened.Store, dump: opened.Dump, clock: clock, ids: ids,
	}
	f.settle("filled")
	for _, some := range ofTheInstance {
		f.update(some(f))
	}
	f.keepTaxonomy(f.newTaxonomy())
	f.advancesLeads(someSuppression(f))
	f.writeCases()
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().Bind(ctx, "0123456789abcdef") })
	f.update(chaining)
	f.update(stubbing(f.newStub("")))
	for table, rows := range f.dump() {
		if len(rows) == 0 && !slices.Contains(byOthers, table) {
			t.Errorf("no row was made in %s", table)
		}
	}
}
