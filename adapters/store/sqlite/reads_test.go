package sqlite_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/domain/page"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// busyStore is a migrated store whose connections can be held.
type busyStore struct {
	*sqlstore.Store
	engine *sqlite.Engine
}

func openBusy(t *testing.T) busyStore {
	t.Helper()
	engine := open(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "holdco.db")})
	_, err := engine.Migrator().Up(t.Context())
	must(t, err)
	return busyStore{sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator()), engine}
}

// holdViews keeps every connection of views busy until release is called.
func (b busyStore) holdViews(t *testing.T) (release func()) {
	t.Helper()
	var began, ended sync.WaitGroup
	over := make(chan struct{})
	views := b.engine.Pools()["readers"].Stats().MaxOpenConnections
	began.Add(views)
	for range views {
		ended.Go(func() {
			must(t, b.engine.View(t.Context(), func(context.Context, bun.IConn) error {
				began.Done()
				<-over
				return nil
			}))
		})
	}
	began.Wait()
	return func() {
		close(over)
		ended.Wait()
	}
}

func TestAReadThatTakesTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy, seen := openBusy(t), &diary{}
		release := busy.holdViews(t)
		defer release()
		began := time.Now()
		_, err := busy.Observed(seen).Companies().List(t.Context(), store.CompanyFilter{}, page.Position{}, 1)
		if fault.CodeOf(err) != fault.Unavailable || time.Since(began) > sqlstore.ReadLimit {
			t.Errorf("got %v after %v, want unavailable", err, time.Since(began))
		}
		if want := []string{"read unavailable"}; !slices.Equal(seen.entries, want) {
			t.Errorf("observed %v, want %v", seen.entries, want)
		}
	})
}
