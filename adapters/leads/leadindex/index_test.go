package leadindex_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"holdco/adapters/leads/leadindex"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/outbound"
	"holdco/ports/searchtest"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestTheStoresSearchAsTheFilterSays(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			searchtest.Run(t, func(t *testing.T) searchtest.Subject {
				s := open(t)
				return searchtest.Subject{LeadSearch: s.Leads(), Store: s}
			})
		})
	}
}

func TestTheIndexSearchesAsTheFilterSays(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			searchtest.Run(t, func(t *testing.T) searchtest.Subject {
				s := open(t)
				index := leadindex.New(s)
				follow(t, index)
				return searchtest.Subject{LeadSearch: index, Store: s, CatchUp: func() error { return catchUp(t.Context(), index, s) }}
			})
		})
	}
}

var stores = map[string]func(t *testing.T) store.Store{"SQLite": onSQLite, "Postgres": onPostgres}

func onSQLite(t *testing.T) store.Store {
	t.Helper()
	return onSQLiteAt(t, storetest.NewClock())
}

func onSQLiteAt(t *testing.T, clock outbound.Clock) store.Store {
	t.Helper()
	engine := sqlitetest.Open(t)
	return sqlstore.New(engine, clock, storetest.NewIDs(), engine.Migrator())
}

func onPostgres(t *testing.T) store.Store {
	t.Helper()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, engine.Close()) })
	return sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator())
}

func closing(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// The heap is measured, so nothing runs beside this test.
func TestTheMemoryOfAnswersIsBounded(t *testing.T) { //nolint:paralleltest // see above
	index := leadindex.New(newPlenty(1000))
	if _, err := index.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := heap()
	const questions, campaigns = 8000, 100
	for n := range questions {
		query := lead.Query{Size: 1, Uncounted: true}
		for i := range campaigns {
			query.Filter.Campaigns = append(query.Filter.Campaigns, id.Campaign(fmt.Sprintf("cam_%032d", n*campaigns+i)))
		}
		if _, err := index.Search(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if grown := int64(heap()) - int64(before); grown > leadindex.MostRemembered {
		t.Errorf("after %d questions the heap had grown by %d KiB", questions, grown>>10)
	}
	runtime.KeepAlive(index)
}

// catchUp returns when an index has all that its store has by now. After some changes it rests for a moment.
func catchUp(ctx context.Context, index *leadindex.Index, s store.Store) error {
	state, err := s.Leads().State(ctx)
	for err == nil && index.Status().Revision < state.Revision {
		_, err = index.Follow(ctx)
	}
	return err
}

// follow lets an index follow its store until the end of the test.
func follow(t *testing.T, index *leadindex.Index) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if _, err := index.Follow(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-index.Wanted():
			case <-time.After(leadindex.Pace):
			}
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}
