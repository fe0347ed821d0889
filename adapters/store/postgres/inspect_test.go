package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// Whether commits are kept when the server is gone is up to its settings, and to standbys, of which ordinary users see that they are there.
func TestInspectionLooksAtWhatKeepsCommitsOnPostgres(t *testing.T) {
	t.Parallel()
	pair := postgrestest.NewPair(t)
	address := pair.Database(t)
	pair.Execute(t, "CREATE ROLE plain LOGIN PASSWORD 'secret'")
	engine := open(t, strings.Replace(address, "holdco:secret", "plain:secret", 1))
	differs := func() (about []string) {
		if _, err := engine.Open(t.Context(), func(one store.Difference) { about = append(about, one.About) }); err != nil {
			t.Fatal(err)
		}
		return about
	}
	if got := differs(); got != nil {
		t.Errorf("with a standby: %v", got)
	}
	pair.Execute(t, "ALTER ROLE plain SET synchronous_commit = off")
	pair.Part(t)
	engine = open(t, strings.Replace(address, "holdco:secret", "plain:secret", 1))
	const limit = time.Minute
	want := []string{"synchronous_commit", "synchronous_standby_names"}
	for began := time.Now(); !slices.Equal(differs(), want); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("without one, and not waiting for the disk: %v", differs())
		}
	}
}

// How long a check of a whole store may take is up to who asks for it, with and without a pooler.
func TestChecksTakeTheTimeThatTheyNeed(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	for name, options := range map[string]postgres.Options{
		"straight":       {URL: address, Unhurried: true},
		"through pooler": {URL: pooled(t, address), Pooled: true, Unhurried: true},
	} {
		err := openWith(t, options).View(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			if end, ends := ctx.Deadline(); ends {
				t.Errorf("%s: a view ends at %v", name, end)
			}
			var got string
			err := conn.QueryRowContext(ctx, "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') "+
				"|| ' ' || current_setting('idle_in_transaction_session_timeout')").Scan(&got)
			if got != "5s 0 0" {
				t.Errorf("%s: the timeouts are %q", name, got)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A check that loses the server is told so, and not that what it looks at is damaged.
func TestInspectionTellsThatTheServerIsGone(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	engine := open(t, cluster.Database(t))
	cluster.Stop(t)
	ignore := func(store.Difference) {}
	for name, look := range map[string]func() error{
		"open":      func() error { _, err := engine.Open(t.Context(), ignore); return err },
		"schema":    func() error { return engine.Schema(t.Context(), ignore) },
		"integrity": func() error { return engine.Integrity(t.Context(), ignore) },
		"space":     func() error { _, err := engine.Space(t.Context()); return err },
		"tables":    func() error { _, err := engine.Tables(t.Context()); return err },
	} {
		if err := look(); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Others may have tables beside those of the store, which its user may not read.
func TestTablesOfOthersArePassedOver(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	cluster.Execute(t, "CREATE ROLE plain LOGIN PASSWORD 'secret'")
	cluster.Execute(t, "GRANT CREATE, USAGE ON SCHEMA public TO plain")
	cluster.Execute(t, "CREATE TABLE strange (a int PRIMARY KEY); INSERT INTO strange VALUES (1); "+
		"ALTER TABLE strange ADD CONSTRAINT small CHECK (a < 1) NOT VALID")
	engine := open(t, strings.Replace(cluster.URL, "holdco:secret", "plain:secret", 1))
	if _, err := engine.Migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	tables, err := engine.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, one := range tables {
		names[one.Name] = true
	}
	if names["strange"] || !names["companies"] || !names["turns_00"] || !names["goose_db_version"] {
		t.Errorf("%v", names)
	}
	for name, look := range map[string]func(context.Context, func(store.Difference)) error{
		"schema": engine.Schema, "integrity": engine.Integrity,
	} {
		if err := look(t.Context(), func(one store.Difference) { t.Errorf("%s: %+v", name, one) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a killed restoration has left is found and removed; what one works on is neither.
func TestWhatRestorationsHaveLeftIsFoundOnPostgres(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	engine := open(t, address)
	r := mustTry(t, address)
	const left = "holdco_restoring_left"
	if _, err := engine.DB().ExecContext(t.Context(), "CREATE SCHEMA "+left+" CREATE TABLE companies (id text)"); err != nil {
		t.Fatal(err)
	}
	find := func() []string {
		names, err := engine.Leftovers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if names := find(); !slices.Equal(names, []string{left}) {
		t.Errorf("%v", names)
	}
	working := query[string](t, address, "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'holdco!_restoring!_%' ESCAPE '!' "+
		"AND nspname <> $1", left)
	for _, name := range []string{left, working, left} {
		if err := engine.RemoveLeftover(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if err := engine.RemoveLeftover(t.Context(), "public"); err == nil {
		t.Error("the store itself was removed")
	}
	if names := find(); names != nil {
		t.Errorf("%v", names)
	}
	if got := query[int64](t, address, "SELECT count(*) FROM pg_namespace WHERE nspname = $1", working); got != 1 {
		t.Error("what a restoration works on was removed")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// mustTry begins to check a backup without rows, beside a store.
func mustTry(t *testing.T, address string) store.Restoration {
	t.Helper()
	options := postgres.Options{URL: address, Restores: true}
	engine := openWith(t, options)
	target, err := engine.Target(options, storetest.NewClock(), storetest.NewIDs())
	if err != nil {
		t.Fatal(err)
	}
	r, err := target.Try(t.Context(), backup.Manifest{Engine: backup.Postgres, Schema: target.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
