package sqlstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// Events of another database, whose transactions have higher numbers, come before those of this one.
func TestAMovedLogComesFirstOnPostgres(t *testing.T) {
	t.Parallel()
	d := openPostgres(t)
	d.migratedSchema(t)
	s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
	record := func(n int) {
		must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			return tx.Record(ctx, event.Of(event.GoalCreated, "cmp_a", fmt.Sprint(n), nil).By("system:test"))
		}))
	}
	reorder := func() (moved bool) {
		must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
			moved, err = tx.Activity().Reorder(ctx)
			return err
		}))
		return moved
	}
	for n := range 3 {
		record(n)
	}
	if reorder() {
		t.Error("a log that was not moved was reordered")
	}
	_, err := d.writes.ExecContext(t.Context(), "UPDATE activity SET txid = txid + 1000000000000000")
	must(t, err)
	if !reorder() {
		t.Error("a log that was moved was not reordered")
	}
	record(3)
	var got []string
	for len(got) < 4 && t.Context().Err() == nil { // tests beside this one have transactions too
		found, err := s.Activity().Follow(t.Context(), new(id.Company("cmp_a")), store.Place{}, store.Last, 10)
		must(t, err)
		got = nil
		for _, one := range found {
			got = append(got, one.Subject.ID)
		}
	}
	if !slices.Equal(got, []string{"0", "1", "2", "3"}) {
		t.Error(got)
	}
}
