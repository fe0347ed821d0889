package sqlite_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestAClosedStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	engine := open(t, sqlite.Options{Path: sqlite.Memory})
	closed := sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator())
	must(t, engine.Close())

	_, get := closed.Companies().BySlug(t.Context(), "acme")
	for name, err := range map[string]error{
		"a read": get,
		"a view": closed.View(t.Context(), func(context.Context, store.Reader) error { return nil }),
		"a unit": closed.Update(t.Context(), func(context.Context, store.Tx) error { return nil }),
		"Ready":  closed.Ready(t.Context()),
	} {
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: got %v, want unavailable", name, err)
		}
	}
}

func TestAViewEndsWithItsContext(t *testing.T) {
	t.Parallel()
	kept := migrated(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := kept.View(ctx, func(ctx context.Context, r store.Reader) error {
		cancel()
		_, err := r.Companies().BySlug(ctx, "acme")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context is canceled", err)
	}
}

func TestViewsOnAllConnectionsCompileANewStatement(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	views := notes.Pools()["readers"].Stats().MaxOpenConnections
	var begun, ended sync.WaitGroup
	begun.Add(views)
	for range views {
		ended.Go(func() {
			err := notes.View(t.Context(), func(ctx context.Context, conn bun.IConn) error {
				begun.Done()
				begun.Wait() // no connection is left
				var n int
				return conn.QueryRowContext(ctx, "SELECT ?1 + 1", 1).Scan(&n)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	ended.Wait()
}
