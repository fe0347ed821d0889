package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
)

// counters is an engine of two connections, on a database that has a table of two counters too, both 0.
func counters(t *testing.T) *postgres.Engine {
	t.Helper()
	return countersAt(t, postgrestest.URL(t))
}

func countersAt(t *testing.T, url string) *postgres.Engine {
	t.Helper()
	options := postgrestest.Options(t, url)
	options.MaxConns = 2
	engine := openWith(t, options)
	run(t, engine, "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)")
	run(t, engine, "INSERT INTO counters VALUES ('a', 0), ('b', 0)")
	return engine
}

func run(t *testing.T, engine *postgres.Engine, statement string) {
	t.Helper()
	if _, err := engine.DB().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// values reads both counters, on a connection of the pool or on that of a unit.
func values(ctx context.Context, conn bun.IConn) (a, b int, err error) {
	err = conn.QueryRowContext(ctx, "SELECT max(value) FILTER (WHERE name = 'a'), max(value) FILTER (WHERE name = 'b') FROM counters").
		Scan(&a, &b)
	return a, b, err
}

func expectValues(t *testing.T, engine *postgres.Engine, wantA, wantB int) {
	t.Helper()
	a, b, err := values(t.Context(), engine.DB())
	if err != nil || a != wantA || b != wantB {
		t.Errorf("the counters are %d and %d, %v; want %d and %d", a, b, err, wantA, wantB)
	}
}

func add(ctx context.Context, conn bun.IConn, name string) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("UPDATE counters SET value = value + 1 WHERE name = '%s'", name))
	return err
}

func TestConflictIsRunAgain(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]string{
		"a row changed meanwhile": "a", // found by the statement
		"a row read meanwhile":    "b", // found by COMMIT
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := counters(t)
			runs := 0
			err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
				runs++
				a, b, err := values(ctx, conn)
				if err != nil {
					return err
				}
				if runs == 1 { // somebody else decides on the same two rows, and commits first
					err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
						if _, _, err := values(ctx, conn); err != nil {
							return err
						}
						return add(ctx, conn, changes)
					})
					if err != nil {
						return err
					}
				}
				_, err = conn.ExecContext(ctx, fmt.Sprintf("UPDATE counters SET value = %d WHERE name = 'a'", a+b+10))
				return err
			})
			if err != nil || runs != 2 {
				t.Errorf("%d runs: %v", runs, err)
			}
			want := map[string][2]int{"a": {11, 0}, "b": {11, 1}}[changes]
			expectValues(t, engine, want[0], want[1])
		})
	}
}

func TestDeadlockIsRunAgain(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	var both, first sync.WaitGroup
	first.Add(2)
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		met := false
		both.Go(func() {
			if err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
				if err := add(ctx, conn, order[0]); err != nil {
					return err
				}
				if !met {
					met = true
					first.Done()
					first.Wait()
				}
				return add(ctx, conn, order[1])
			}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	expectValues(t, engine, 2, 2)
}

// Everything that would wait for ever ends with Unavailable, and soon.
func TestEveryWaitHasALimit(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(t *testing.T, engine *postgres.Engine) error{
		"with conflicts": func(t *testing.T, engine *postgres.Engine) error {
			return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error { return raise(ctx, conn, "40001") })
		},
		"with a locked row": func(t *testing.T, engine *postgres.Engine) error {
			return whileHeld(t, engine, "a", func() error {
				return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error { return add(ctx, conn, "a") })
			})
		},
		"with a locked table": func(t *testing.T, engine *postgres.Engine) error {
			return whileHeld(t, engine, "a", func() error {
				return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
					return engine.LockTable(ctx, conn, "counters")
				})
			})
		},
		"with a turn": func(t *testing.T, engine *postgres.Engine) error {
			return whileHeld(t, engine, "a", func() error {
				return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error { return engine.Turn(ctx, conn, "a") })
			})
		},
		"with a turn of another server": func(t *testing.T, engine *postgres.Engine) error {
			return whileHeld(t, engine, "a", func() error {
				return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
					return engine.LockTable(ctx, conn, turnOfA)
				})
			})
		},
		"with a busy pool": func(t *testing.T, engine *postgres.Engine) error {
			return whileHeld(t, engine, "a", func() error {
				return whileHeld(t, engine, "b", func() error {
					return engine.View(t.Context(), func(context.Context, bun.IConn) error { return nil })
				})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := counters(t)
			began := time.Now()
			if err := wait(t, engine); fault.CodeOf(err) != fault.Unavailable && classify(engine, err) != sqlstore.Unavailable {
				t.Error(err)
			}
			if took := time.Since(began); took < 4*time.Second || took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			expectValues(t, engine, 0, 0)
		})
	}
}

// whileHeld runs work while a unit holds a connection, the row of a counter, and the turn of a company of the same name.
func whileHeld(t *testing.T, engine *postgres.Engine, counter string, work func() error) (err error) {
	t.Helper()
	letGo := errors.New("let go")
	if held := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		if turnErr := engine.Turn(ctx, conn, counter); turnErr != nil {
			return turnErr
		}
		if addErr := add(ctx, conn, counter); addErr != nil {
			return addErr
		}
		err = work()
		return letGo
	}); !errors.Is(held, letGo) {
		t.Error(held)
	}
	return err
}

// raise lets the server fail with an SQLSTATE.
func raise(ctx context.Context, conn bun.IConn, code string) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '%s'; END $$", code))
	return err
}

func TestClassify(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	for want, codes := range map[sqlstore.Failure]string{
		sqlstore.Duplicate:   "23505",
		sqlstore.Unavailable: "08006 25006 25P03 40001 40P01 53100 53200 53300 55P03 57014 57P01 57P03 58030",
		sqlstore.Defect:      "22003 23502 23503 23514 25P02 42601 42703 42P01 XX000",
	} {
		for code := range strings.FieldsSeq(codes) {
			err := raise(t.Context(), engine.DB(), code)
			if got, _ := engine.Classify(fmt.Errorf("wrapped: %w", err)); got != want {
				t.Errorf("%s is classified as %d, want %d: %v", code, got, want, err)
			}
		}
	}
	for want, errs := range map[sqlstore.Failure][]error{
		sqlstore.Unavailable: {context.DeadlineExceeded, io.ErrUnexpectedEOF, sql.ErrConnDone},
		sqlstore.Defect:      {sql.ErrNoRows, errors.New("something else")},
	} {
		for _, err := range errs {
			if got, _ := engine.Classify(fmt.Errorf("wrapped: %w", err)); got != want {
				t.Errorf("%v is classified as %d, want %d", err, got, want)
			}
		}
	}
	_, err := engine.DB().ExecContext(t.Context(), "INSERT INTO counters VALUES ('a', 1)")
	if classify(engine, err) != sqlstore.Duplicate {
		t.Error(err)
	}
}

// A unit may be what breaks the server, so it has two attempts and no more.
func TestAUnitThatBreaksItsConnectionsIsUnavailable(t *testing.T) {
	t.Parallel()
	for breaks, want := range map[int]struct {
		success bool
		value   int
	}{1: {true, 1}, 2: {false, 0}, 1000: {false, 0}} {
		engine := counters(t)
		runs := 0
		err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			if err := add(ctx, conn, "a"); err != nil {
				return err
			}
			if runs++; runs > breaks {
				return nil
			}
			_, err := conn.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
			return err
		})
		if (err == nil) != want.success || err != nil && classify(engine, err) != sqlstore.Unavailable || runs != 2 {
			t.Errorf("broken %d times: %d runs: %v", breaks, runs, err)
		}
		expectValues(t, engine, want.value, 0)
	}
}

// The pool holds connections that an operator has ended, or that were there before a restart of the server.
func TestAConnectionThatWasLostUnusedIsNotNoticed(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	engine := countersAt(t, url)
	operator, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	none := func(context.Context, bun.IConn) error { return nil }
	for name, use := range map[string]func(ctx context.Context) error{
		"a read": func(ctx context.Context) error {
			var one int
			return engine.Conn().QueryRowContext(ctx, "SELECT 1").Scan(&one)
		},
		"a view": func(ctx context.Context) error { return engine.View(ctx, none) },
		"a unit": func(ctx context.Context) error {
			return engine.Update(ctx, func(ctx context.Context, conn bun.IConn) error {
				_, _, err := values(ctx, conn)
				return err
			})
		},
	} {
		for range 10 {
			if err := engine.View(t.Context(), func(ctx context.Context, _ bun.IConn) error { return engine.View(ctx, none) }); err != nil {
				t.Fatal(err) // two connections are in the pool, and were used just now
			}
			if _, err := operator.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "+
				"WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
				t.Fatal(err)
			}
			if err := use(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The outcome of a COMMIT that got no answer is unknown: it is not retried.
func TestConnectionLostAtCommitIsNotRunAgain(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	run(t, engine, `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`)
	run(t, engine, `CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON counters
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()`)
	runs := 0
	err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		runs++
		return add(ctx, conn, "a")
	})
	if fault.CodeOf(err) != fault.Unavailable || runs != 1 {
		t.Errorf("%d runs: %v", runs, err)
	}
	expectValues(t, engine, 0, 0)
}

// PostgreSQL would answer COMMIT with a rollback that looks like success.
func TestSwallowedFailureDoesNotCommit(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		if err := add(ctx, conn, "a"); err != nil {
			return err
		}
		_ = raise(ctx, conn, "23505")
		return nil
	})
	if err == nil || classify(engine, err) != sqlstore.Defect {
		t.Error(err)
	}
	expectValues(t, engine, 0, 0)
}

// A statement whose result is not needed goes to the server with the next one, or with COMMIT, and fails there.
func TestWhatWaitsIsPartOfTheUnit(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	const insert = "INSERT INTO counters VALUES ($1, $2)"
	set := func(counter string, next func(ctx context.Context, conn bun.IConn) error) error {
		return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			if err := add(ctx, conn, "b"); err != nil {
				return err
			}
			if err := engine.Later(ctx, conn, insert, counter, int64(5)); err != nil {
				return err
			}
			return next(ctx, conn)
		})
	}
	for name, next := range map[string]func(ctx context.Context, conn bun.IConn) error{
		"at the end": func(context.Context, bun.IConn) error { return nil },
		"at a query": func(ctx context.Context, conn bun.IConn) error { _, _, err := values(ctx, conn); return err },
		"at two, dropped": func(ctx context.Context, conn bun.IConn) error {
			_, _, _ = values(ctx, conn)
			_, _, _ = values(ctx, conn)
			return nil
		},
		"at a change": func(ctx context.Context, conn bun.IConn) error { return add(ctx, conn, "b") },
		"at a prepared one": func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, insert, "c", int64(1))
			return err
		},
	} {
		if err := set("a", next); classify(engine, err) != sqlstore.Duplicate {
			t.Errorf("%s: %v", name, err)
		}
		expectValues(t, engine, 0, 0)
	}
	err := set("c", func(ctx context.Context, conn bun.IConn) error {
		var value int64
		if err := engine.ScanRow(ctx, conn, []any{&value}, "SELECT value FROM counters WHERE name = $1", "c"); err != nil || value != 5 {
			t.Errorf("a unit sees %d of what it wrote: %v", value, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	expectValues(t, engine, 0, 1)
}

// A statement that waits and has to change a row fails where it is sent, with COMMIT too.
func TestWhatWaitsChangesOneRowOrNothingIsKept(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	const set = "UPDATE counters SET value = $1 WHERE name = $2"
	update := func(counter string, next func(ctx context.Context, conn bun.IConn) error) error {
		return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			for _, name := range []string{"a", counter} {
				if err := engine.LaterOne(ctx, conn, set, int64(7), name); err != nil {
					return err
				}
			}
			return next(ctx, conn)
		})
	}
	for name, next := range map[string]func(ctx context.Context, conn bun.IConn) error{
		"at the end":      func(context.Context, bun.IConn) error { return nil },
		"at a query":      func(ctx context.Context, conn bun.IConn) error { _, _, err := values(ctx, conn); return err },
		"at one, dropped": func(ctx context.Context, conn bun.IConn) error { _, _, _ = values(ctx, conn); return nil },
	} {
		if err := update("none", next); err == nil || classify(engine, err) != sqlstore.Defect {
			t.Errorf("%s: %v", name, err)
		}
		expectValues(t, engine, 0, 0)
	}
	if err := update("none", func(context.Context, bun.IConn) error { return nil }); !errors.Is(err, sqlstore.ErrNotOne) {
		t.Error(err)
	}
	if err := update("b", func(context.Context, bun.IConn) error { return nil }); err != nil {
		t.Error(err)
	}
	expectValues(t, engine, 7, 7)
}

func TestCallerWhoLeavesStopsWaiting(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	for what, wait := range map[string]func(ctx context.Context, conn bun.IConn) error{
		"a row":  func(ctx context.Context, conn bun.IConn) error { return add(ctx, conn, "a") },
		"a turn": func(ctx context.Context, conn bun.IConn) error { return engine.Turn(ctx, conn, "a") },
	} {
		began := time.Now()
		err := whileHeld(t, engine, "a", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			return engine.Update(ctx, wait)
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 3*time.Second {
			t.Errorf("%s: after %s: %v", what, time.Since(began), err)
		}
	}
	if err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error { return add(ctx, conn, "a") }); err != nil {
		t.Error(err)
	}
	expectValues(t, engine, 1, 0)
}

func TestClosedEngineIsUnavailable(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	for _, work := range []func(context.Context, func(context.Context, bun.IConn) error) error{engine.View, engine.Update} {
		err := work(t.Context(), func(ctx context.Context, conn bun.IConn) error { _, _, err := values(ctx, conn); return err })
		if fault.CodeOf(err) != fault.Unavailable {
			t.Error(err)
		}
	}
}

func TestSessionIsBounded(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(postgrestest.EmptyURL(t))
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	query.Set("application_name", "mine")
	query.Set("statement_timeout", "7s")
	address.RawQuery = query.Encode()
	given := open(t, address.String())
	for setting, want := range map[string]string{
		"application_name": "mine", "statement_timeout": "7s", "lock_timeout": "5s",
		"idle_in_transaction_session_timeout": "1min", "standard_conforming_strings": "on", "client_encoding": "UTF8",
	} {
		var got string
		if err := given.DB().QueryRowContext(t.Context(), "SHOW "+setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", setting, got, err, want)
		}
	}
}

func TestCompiledStatementsUseAnIndexThoughTheTableIsSmall(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	run(t, engine, "ANALYZE counters")
	err := engine.View(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		scans := func() (whole int, err error) {
			err = conn.QueryRowContext(ctx, "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'counters'").Scan(&whole)
			return whole, err
		}
		before, err := scans() // making the table was one
		if err != nil {
			return err
		}
		for text, arg := range map[string]any{"name = $1": "a", "name = ANY($1)": []string{"a", "c"}, "name BETWEEN $1 AND 'aa'": "a"} {
			var value int
			if err := conn.QueryRowContext(ctx, "SELECT value FROM counters WHERE "+text, arg).Scan(&value); err != nil {
				return err
			}
		}
		if after, err := scans(); err != nil || after != before {
			t.Errorf("the table was read as a whole %d times: %v", after-before, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What each call of an agent changes is in no index, not even in the condition of one: otherwise the server would write a new entry to
// every index of the table.
func TestWhatChargesChangeIsInNoIndex(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	for table, columns := range map[string][]string{
		"runs": {
			"expires_at", "held_usd", "spent_usd", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "charges",
			"checkpoints", "filed", "context_at", "lease_seconds",
		},
		"envelopes": {"spent_usd", "held_usd"},
	} {
		var found []string
		err := engine.DB().NewRaw(`SELECT i.relname || ': ' || a.attname FROM pg_depend d
			JOIN pg_class i ON i.oid = d.objid AND i.relkind = 'i'
			JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
			WHERE d.refobjid = to_regclass(?) AND a.attname IN (?)`, table, bun.List(columns)).Scan(t.Context(), &found)
		if err != nil || len(found) > 0 {
			t.Errorf("indexes of %s: %v, %v", table, found, err)
		}
		var known int
		err = engine.DB().NewRaw("SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(?) AND attname IN (?)", table,
			bun.List(columns)).Scan(t.Context(), &known)
		if err != nil || known != len(columns) {
			t.Errorf("%s has %d of the columns %v: %v", table, known, columns, err)
		}
	}
}

// classify is the failure that an engine takes an error for.
func classify(engine sqlstore.Engine, err error) sqlstore.Failure {
	failure, _ := engine.Classify(err)
	return failure
}
