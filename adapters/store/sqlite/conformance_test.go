package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/ports/outbound"
	"holdco/ports/storetest"
)

func TestAFileConforms(t *testing.T) {
	t.Parallel()
	storetest.RunAll(t, func(t *testing.T, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
		file := sqlite.Options{Path: filepath.Join(sqlitetest.Dir(t), "holdco.db"), Synchronous: sqlite.Normal, UnitTimeout: time.Minute}
		return opened(t, open(t, file), clock, ids)
	})
}

func TestMemoryConforms(t *testing.T) {
	t.Parallel()
	storetest.RunAll(t, func(t *testing.T, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
		return opened(t, sqlitetest.Open(t), clock, ids)
	})
}

func migrated(t *testing.T) *sqlstore.Store {
	t.Helper()
	engine := sqlitetest.Open(t)
	return sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator())
}

func opened(t *testing.T, engine *sqlite.Engine, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
	t.Helper()
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
