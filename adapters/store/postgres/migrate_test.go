package postgres_test

import (
	"sync"
	"testing"

	"holdco/adapters/store/postgres/postgrestest"
)

func TestManyMigrateOnce(t *testing.T) {
	t.Parallel()
	url := postgrestest.EmptyURL(t)
	const replicas = 4
	applied := make([]int, replicas)
	var all sync.WaitGroup
	for i := range replicas {
		migrator := open(t, url).Migrator()
		all.Go(func() {
			migrations, err := migrator.Up(t.Context())
			if err != nil {
				t.Error(err)
			}
			applied[i] = len(migrations)
		})
	}
	all.Wait()

	schema, err := open(t, url).Migrator().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range applied {
		total += n
	}
	if total != len(schema.Migrations) || len(schema.Pending()) > 0 {
		t.Errorf("%d migrations were applied; there are %d, pending %v", total, len(schema.Migrations), schema.Pending())
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	engine := open(t, postgrestest.URL(t))
	if _, err := engine.DB().ExecContext(t.Context(),
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true); "+
			"UPDATE schema_compatibility SET compatible_from = 99999"); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Migrator().Up(t.Context()); err == nil {
		t.Error("Up took a schema from the future")
	}
	if _, err := engine.Migrator().Status(t.Context()); err == nil {
		t.Error("Status took a schema from the future")
	}
}
