package postgres_test

import (
	"testing"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/ports/outbound"
	"holdco/ports/storetest"
)

func TestPostgresConforms(t *testing.T) {
	t.Parallel()
	storetest.RunAll(t, func(t *testing.T, clock outbound.Clock, ids outbound.IDs) storetest.Opened {
		engine := open(t, postgrestest.URL(t))
		return storetest.Opened{
			Store: sqlstore.New(engine, clock, ids, engine.Migrator()).WithClock(clock),
			Dump: storetest.Dumping(t, engine.DB().DB, `
				SELECT relname FROM pg_class
				WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'goose_db_version'
					AND relname NOT LIKE 'turns!___' ESCAPE '!'`),
		}
	})
}

// open opens an engine that is closed at the end of the test.
func open(t *testing.T, url string) *postgres.Engine {
	t.Helper()
	return openWith(t, postgrestest.Options(t, url))
}

func openWith(t *testing.T, options postgres.Options) *postgres.Engine {
	t.Helper()
	engine, err := postgres.Open(t.Context(), options)
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
