package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// server opens a store as a server does, which always has a connection.
func server(t *testing.T, address string) (*postgres.Engine, store.Store) {
	t.Helper()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: address, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine, sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator())
}

// begin begins to restore a backup without rows, in the place of a store.
func begin(t *testing.T, address string) (store.Restoration, error) {
	t.Helper()
	options := postgres.Options{URL: address, Restores: true}
	engine, err := postgres.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	target, err := engine.Target(options, storetest.NewClock(), storetest.NewIDs())
	if err != nil {
		t.Fatal(err)
	}
	return target.Begin(t.Context(), backup.Manifest{Engine: backup.Postgres, Schema: target.Schema()}, true)
}

func mustBegin(t *testing.T, address string) store.Restoration {
	t.Helper()
	r, err := begin(t, address)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func switchOver(t *testing.T, r store.Restoration) {
	t.Helper()
	if _, err := r.Open(t.Context(), map[string]int64{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Switch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func query[T any](t *testing.T, address, text string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// The connection that a server always has may be cut off, by a firewall say, while it writes on others.
func TestAServerThatLostOneConnectionKeepsItsStore(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	engine, s := server(t, address)
	var idle int // of the other pool
	err := engine.Pools()["pool"].QueryRowContext(t.Context(), "SELECT pid FROM pg_stat_activity "+
		"WHERE datname = current_database() AND application_name = 'holdco' AND pid <> pg_backend_pid()").Scan(&idle)
	if err != nil {
		t.Fatal(err)
	}
	load := startLoad(t, s)
	load.until(t, func() bool { return load.done.Load() > 20 })
	if !query[bool](t, address, "SELECT pg_terminate_backend($1, 60000)", idle) {
		t.Fatal("its connection was not cut off")
	}
	if r, err := begin(t, address); err == nil || !strings.Contains(err.Error(), "stop it first") {
		if err == nil {
			_ = r.Close()
		}
		t.Errorf("beside a server that writes: %v", err)
	}
	done := load.done.Load()
	load.until(t, func() bool { return load.done.Load() > done+20 })
	load.compare(t, s)
}

// A server that cannot reach its store has no connection that keeps it from being restored. When it is back, it must not write what
// belongs into the former one.
func TestAServerWhoseStoreWasRestoredWritesNothingMore(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	address := cluster.Database(t)
	cluster.Execute(t, "CREATE ROLE server SUPERUSER LOGIN PASSWORD 'secret'")
	own, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	own.User = url.UserPassword("server", "secret")
	engine, s := server(t, own.String())
	load := startLoad(t, s)
	load.until(t, func() bool { return load.done.Load() > 20 })

	cluster.Execute(t, "ALTER ROLE server NOLOGIN")
	query[int64](t, address, "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity WHERE usename = 'server'")
	r := mustBegin(t, address)
	cluster.Execute(t, "ALTER ROLE server LOGIN")
	failures := load.failures.Load()
	load.until(t, func() bool { return load.failures.Load() > failures+20 })
	if _, err := postgres.Open(t.Context(), postgres.Options{URL: own.String(), Wait: time.Hour}); err == nil ||
		!strings.Contains(err.Error(), "is being restored") {
		t.Errorf("a server that starts meanwhile: %v", err)
	}
	select {
	case <-engine.Restored():
		t.Error("it was not restored yet")
	default:
	}
	switchOver(t, r)
	<-engine.Restored()
	failures = load.failures.Load()
	load.until(t, func() bool { return load.failures.Load() > failures+20 })
	load.end()
	if err := s.Ready(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("it is ready: %v", err)
	}
	if got := query[int64](t, address, "SELECT count(*) FROM activity"); got != 0 {
		t.Errorf("%d entries were written into the restored store", got)
	}
	_, again := server(t, own.String())
	if err := again.Ready(t.Context()); err != nil {
		t.Errorf("one that starts again: %v", err)
	}
}

// A store gets its schema while it is open.
func TestAMigrationIsNoRestoration(t *testing.T) {
	t.Parallel()
	engine, s := server(t, postgrestest.EmptyURL(t))
	if _, err := engine.Migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
