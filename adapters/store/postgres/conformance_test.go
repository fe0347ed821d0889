package postgres_test

import (
	"testing"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/ports/outbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestPostgresConforms(t *testing.T) {
	t.Parallel()
	storetest.RunAll(t, func(t *testing.T, clock outbound.Clock, ids outbound.IDs) store.Store {
		engine := open(t, postgrestest.URL(t))
		return sqlstore.New(engine, clock, ids, engine.Migrator())
	})
}

// open opens an engine that is closed at the end of the test.
func open(t *testing.T, url string) *postgres.Engine {
	t.Helper()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: url})
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
