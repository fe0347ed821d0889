package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlstore"
)

func TestAFullStoreIsNotReadyUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	grow := func(pages int) {
		t.Helper()
		must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			return err
		}))
	}
	large := func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO notes (text) VALUES (randomblob(100000))")
		return err
	}
	tables := func() (names string) {
		t.Helper()
		must(t, notes.Conn().QueryRowContext(t.Context(), "SELECT group_concat(name) FROM sqlite_schema").Scan(&names))
		return names
	}
	unavailable := func(err error) bool {
		failure, _ := notes.Classify(err)
		return failure == sqlstore.Unavailable
	}
	before := tables()

	must(t, notes.Ready(t.Context()))
	grow(20)
	refused := notes.update(func(context.Context, bun.IConn) error { return errors.New("refused") })
	if refused == nil || notes.Ready(t.Context()) != nil {
		t.Error("a unit that is refused says nothing about the disk")
	}
	if err := notes.update(large); !unavailable(err) {
		t.Fatalf("the store is not full: %v", err)
	}
	for range 2 {
		if err := notes.Ready(t.Context()); !unavailable(err) {
			t.Errorf("a full store is ready (%v)", err)
		}
		must(t, notes.update(insert(1)))
		must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, "DELETE FROM notes WHERE n = ?", 1)
			return err
		}))
	}
	grow(1000)
	must(t, notes.Ready(t.Context()))
	must(t, notes.update(large))
	must(t, notes.Ready(t.Context()))
	if after := tables(); after != before {
		t.Errorf("the store has %s, had %s", after, before)
	}
}
