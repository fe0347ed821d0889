package postgres_test

import (
	"context"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// The clock of the process stands in the past. Whoever asks the store gets the time of the server.
func TestTheClockOfTheStoreIsThatOfTheServer(t *testing.T) {
	t.Parallel()
	engine := open(t, postgrestest.URL(t))
	clock := storetest.NewClock()
	s := sqlstore.New(engine, clock, storetest.NewIDs(), engine.Migrator())
	server := func() (now time.Time) {
		t.Helper()
		if err := engine.DB().QueryRowContext(t.Context(), "SELECT clock_timestamp()").Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	check := func(who string, read func(ctx context.Context) (time.Time, error)) {
		t.Helper()
		before := server().Truncate(time.Millisecond)
		got, err := read(t.Context())
		if after := server(); err != nil || got.Before(before) || got.After(after) {
			t.Errorf("%s: %s, %v; the server's clock went from %s to %s", who, got, err, before, after)
		}
		if got.Location() != time.UTC || !got.Equal(got.Truncate(time.Millisecond)) {
			t.Errorf("%s: %s is not in whole milliseconds of UTC", who, got)
		}
	}
	check("a reader", s.StoreNow)
	check("a view", func(ctx context.Context) (now time.Time, err error) {
		err = s.View(ctx, func(ctx context.Context, r store.Reader) error {
			now, err = r.StoreNow(ctx)
			return err
		})
		return now, err
	})
	unit := func(first func(ctx context.Context, tx store.Tx) error) func(ctx context.Context) (time.Time, error) {
		return func(ctx context.Context) (now time.Time, err error) {
			err = s.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
				if err := first(ctx, tx); err != nil {
					return err
				}
				now, err = tx.StoreNow(ctx)
				if !tx.Now().Equal(clock.Now()) {
					t.Errorf("the unit's own now is %s", tx.Now())
				}
				return err
			})
			return now, err
		}
	}
	check("a unit", unit(func(context.Context, store.Tx) error { return nil }))
	check("a unit with a turn", unit(func(ctx context.Context, tx store.Tx) error { return tx.Turn(ctx, "cmp_x") }))
}
