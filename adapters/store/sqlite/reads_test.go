package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// busyStore is a migrated store whose connections can be occupied.
type busyStore struct {
	*sqlstore.Store
	engine *sqlite.Engine
}

func openBusy(t *testing.T) busyStore {
	t.Helper()
	engine := open(t, sqlite.Options{Path: filepath.Join(sqlitetest.Dir(t), "holdco.db")})
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
		busy := openBusy(t)
		release := busy.holdViews(t)
		defer release()
		for name, read := range map[string]func(s store.Store) error{
			"a list": func(s store.Store) error {
				_, err := s.Companies().List(t.Context(), store.CompanyFilter{}, page.Position{}, 1)
				return err
			},
			"the backlog": func(s store.Store) error {
				_, err := s.Outbox().Backlog(t.Context())
				return err
			},
			"the marks of leads": func(s store.Store) error {
				_, err := s.Leads().Marks(t.Context(), lead.Place{}, lead.Place{ID: "cmp_last"}, 1)
				return err
			},
		} {
			seen, began := &diary{}, time.Now()
			err := read(busy.Observed(seen))
			if fault.CodeOf(err) != fault.Unavailable || time.Since(began) > sqlstore.ReadTimeout {
				t.Errorf("%s: got %v after %v, want unavailable", name, err, time.Since(began))
			}
			if want := []string{"read unavailable"}; !slices.Equal(seen.entries, want) {
				t.Errorf("%s: observed %v, want %v", name, seen.entries, want)
			}
		}
	})
}

func TestBriefReadsDoNotWaitForLongOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := openBusy(t)
		release := busy.holdViews(t)
		defer release()
		began := time.Now()
		_, byID := busy.Companies().Get(t.Context(), "cmp_none")
		_, byToken := busy.Tokens().ByHash(t.Context(), "none")
		_, byKey := busy.Partners().ByHash(t.Context(), "none")
		for name, err := range map[string]error{"a company": byID, "a token": byToken, "a partner": byKey} {
			if fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s: got %v, want not found", name, err)
			}
		}
		list := store.CompanyFilter{Status: company.Active}
		if _, err := busy.Companies().List(t.Context(), list, page.Position{}, page.DefaultSize); err != nil {
			t.Errorf("the usual list: %v", err)
		}
		if err := busy.Ready(t.Context()); err != nil {
			t.Errorf("the store is not ready: %v", err)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("they waited for %v", waited)
		}
	})
}

func TestAViewWaitsForAConnectionForAtMostFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := openBusy(t)
		release := busy.holdViews(t)
		defer release()
		began := time.Now()
		err := busy.View(t.Context(), func(context.Context, store.Reader) error { return nil })
		if fault.CodeOf(err) != fault.Unavailable || time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %v, want unavailable after 5s", err, time.Since(began))
		}
		expectLeaves(t, func(ctx context.Context) error {
			return busy.View(ctx, func(context.Context, store.Reader) error { return nil })
		})
	})
}

func TestABriefReadWaitsForItsTurnForAtMostFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := openBusy(t)
		for range busy.engine.Pools()["lookups"].Stats().MaxOpenConnections {
			_, done, err := busy.engine.Lookup(t.Context(), busy.engine.Conn())
			must(t, err)
			defer done()
		}
		began := time.Now()
		_, err := busy.Tokens().ByHash(t.Context(), "none")
		if fault.CodeOf(err) != fault.Unavailable || time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %v, want unavailable after 5s", err, time.Since(began))
		}
		expectLeaves(t, func(ctx context.Context) error {
			_, err := busy.Tokens().ByHash(ctx, "none")
			return err
		})
		must(t, busy.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Companies().BySlug(ctx, "none") // a unit reads on its own connection
			if fault.CodeOf(err) != fault.NotFound {
				t.Errorf("within a unit: %v", err)
			}
			return nil
		}))
	})
}

// expectLeaves fails unless a read that waits ends as soon as its caller leaves.
func expectLeaves(t *testing.T, read func(ctx context.Context) error) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- read(ctx) }()
	synctest.Wait()
	began := time.Now()
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
		t.Errorf("got %v after %v, want that the context is canceled", err, time.Since(began))
	}
}
