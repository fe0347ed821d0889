package sqlite_test

import (
	"path/filepath"
	"testing"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/ports/outbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestAFileConforms(t *testing.T) {
	t.Parallel()
	storetest.RunAll(t, func(t *testing.T, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
		return opened(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "holdco.db")}, clock, ids)
	})
}

func TestMemoryConforms(t *testing.T) {
	t.Parallel()
	storetest.RunAll(t, func(t *testing.T, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
		return opened(t, sqlite.Options{Path: sqlite.Memory}, clock, ids)
	})
}

func migrated(t *testing.T, options sqlite.Options, clock outbound.Clock, ids outbound.IDs) store.Store {
	t.Helper()
	return opened(t, options, clock, ids).Store
}

func opened(t *testing.T, options sqlite.Options, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
	t.Helper()
	engine := open(t, options)
	if _, err := engine.Migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return storetest.Opened{
		Store: sqlstore.New(engine, clock, ids, engine.Migrator()),
		Dump: storetest.Dumping(t, engine.DB().DB, `
			SELECT name FROM sqlite_schema
			WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' AND name <> 'goose_db_version'`),
	}
}

// open opens an engine that is closed at the end of the test.
func open(t *testing.T, options sqlite.Options) *sqlite.Engine {
	t.Helper()
	engine, err := sqlite.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}
