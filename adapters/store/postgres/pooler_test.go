package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/ports/storetest"
)

// pooled starts a pooler in transaction mode before a database.
func pooled(t *testing.T, address string) (through string) {
	t.Helper()
	return postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "transaction", Conns: 3}).URL(address)
}

// A pooler that the settings do not name is no reason to wait, nor one to begin and fail later.
func TestOpenRefusesAPoolerThatItWasNotToldOf(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	none := postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "session"})
	ignoring := postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "transaction", Takes: postgrestest.Ignored})
	for name, refused := range map[string]struct {
		options postgres.Options
		says    string
	}{
		"parameters": {postgres.Options{URL: none.URL(address)}, "set HOLDCO_DATABASE_POOLER=transaction, for one in session mode"},
		"sessions that are shared": {
			postgres.Options{URL: ignoring.URL(address)}, "pooler in transaction mode: set HOLDCO_DATABASE_POOLER=transaction",
		},
		"a parameter of the URL": {
			postgres.Options{URL: none.URL(address) + "&search_path=public", Pooled: true}, "take them out of the database URL",
		},
		"another database": {
			postgres.Options{URL: none.URL(address), Pooled: true, DirectURL: postgrestest.EmptyURL(t)}, "leads to another database",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused.options.Wait = time.Hour
			_, err := postgres.Open(t.Context(), refused.options)
			if err == nil || !strings.Contains(err.Error(), refused.says) {
				t.Errorf("%v; it should say %q", err, refused.says)
			}
		})
	}
	// What was refused must leave no lock behind.
	if got := query[int64](t, address, "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database "+
		"WHERE locktype = 'advisory' AND datname = current_database()"); got != 0 {
		t.Errorf("%d locks stay", got)
	}
}

func TestAPoolerThatKeepsSessionsNeedsNoSetting(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	pooler := postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "session", Takes: postgrestest.Ignored})
	engine := openWith(t, postgres.Options{URL: pooler.URL(address), MaxConns: 2})
	if err := engine.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// Transactions of many connections share a few sessions, so what one sets must be gone with it.
func TestEachTransactionThroughAPoolerHasItsLimits(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	engine := openWith(t, postgres.Options{URL: pooled(t, address), Pooled: true})
	const limits = "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') || ' ' || " +
		"current_setting('idle_in_transaction_session_timeout') || ' ' || current_setting('enable_seqscan')"
	for name, in := range map[string]func(context.Context, func(context.Context, bun.IConn) error) error{
		"a unit": engine.Update, "a view": engine.View,
	} {
		var got string
		err := in(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			return conn.QueryRowContext(ctx, limits).Scan(&got)
		})
		if err != nil || got != "5s 30s 1min off" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	var after string
	if err := engine.Conn().QueryRowContext(t.Context(), limits).Scan(&after); err != nil || after != "0 0 0 on" {
		t.Errorf("after it: %q, %v", after, err)
	}
}

// What takes long has none of the timeouts that a database, a role or a pooler in session mode gives to sessions, and the checks of a
// restored store may take as long as they are let.
func TestWhatTakesLongHasNoTimeoutsOfTheDatabaseOnPostgres(t *testing.T) {
	t.Parallel()
	address := postgrestest.EmptyURL(t)
	name := query[string](t, address, "SELECT current_database()::text")
	const timeouts = "('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout', " +
		"'idle_session_timeout')"
	names := strings.Fields(query[string](t, address, "SELECT string_agg(name, ' ') FROM pg_settings WHERE name IN "+timeouts))
	if len(names) < 4 {
		t.Fatal(names)
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, timeout := range names {
		if _, err := db.ExecContext(t.Context(), "ALTER DATABASE "+name+" SET "+timeout+" = '7s'"); err != nil {
			t.Fatal(err)
		}
	}
	pooler := postgrestest.NewPooler(t, address, postgrestest.Pooling{Mode: "session", Takes: postgrestest.Ignored})
	for _, url := range []string{address, pooler.URL(address)} {
		engine := openWith(t, postgres.Options{URL: url, MaxConns: 2, Unhurried: true})
		const read = "SELECT coalesce(string_agg(name || ' ' || setting, ', '), '') FROM pg_settings " +
			"WHERE setting <> '0' AND name IN " + timeouts
		var got string
		if err := engine.Migrating().QueryRowContext(t.Context(), read).Scan(&got); err != nil || got != "" {
			t.Errorf("%q, %v", got, err)
		}
		err := engine.Conn().QueryRowContext(t.Context(), read+" AND name <> 'lock_timeout'").Scan(&got)
		if err != nil || got != "" {
			t.Errorf("unhurried: %q, %v", got, err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAPoolerWithoutAWayAroundMigratesNothing(t *testing.T) {
	t.Parallel()
	address := postgrestest.EmptyURL(t)
	engine := openWith(t, postgres.Options{URL: pooled(t, address), Pooled: true})
	if _, err := engine.Migrator().Up(t.Context()); err == nil || !strings.Contains(err.Error(), "HOLDCO_DATABASE_MIGRATE_URL") {
		t.Error(err)
	}
	if all, err := engine.Migrator().Status(t.Context()); err != nil || all.Version != 0 {
		t.Errorf("%v, %v", all, err)
	}
	around := openWith(t, postgres.Options{URL: pooled(t, address), Pooled: true, DirectURL: address})
	if _, err := around.Migrator().Up(t.Context()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(engine.Ready(t.Context()), around.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}

// Without a session of its own nothing keeps the store of a server from being restored, but each transaction finds out.
func TestThroughAPoolerNothingIsWrittenIntoAStoreThatWasRestored(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: pooled(t, address), Pooled: true, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	s := sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator())
	before := startLoad(t, s)
	before.until(t, func() bool { return before.done.Load() > 20 })
	before.compare(t, s)
	r := mustBegin(t, address)
	load := startLoad(t, s)
	load.until(t, func() bool { return load.failures.Load() > 20 })
	select {
	case <-engine.Restored():
		t.Error("it was not restored yet")
	default:
	}
	switchOver(t, r)
	<-engine.Restored()
	failures := load.failures.Load()
	load.until(t, func() bool { return load.failures.Load() > failures+20 })
	load.end()
	if load.done.Load() != 0 {
		t.Errorf("%d writes were acknowledged", load.done.Load())
	}
	if err := s.Ready(t.Context()); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("it is ready: %v", err)
	}
	if got := query[int64](t, address, "SELECT count(*) FROM activity"); got != 0 {
		t.Errorf("%d entries were written into the restored store", got)
	}
}

// With one it keeps the lock of the store there.
func TestAServerBehindAPoolerKeepsItsStore(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: pooled(t, address), Pooled: true, DirectURL: address, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	if r, err := begin(t, address); err == nil || !strings.Contains(err.Error(), "stop it first") {
		if err == nil {
			_ = r.Close()
		}
		t.Errorf("beside a server: %v", err)
	}
}
