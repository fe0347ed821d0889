package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
)

// turnOfA is the table that is locked for the turn of the company a. That of the company b is another one.
const turnOfA = "turns_12"

// adding is a unit that takes the turn of the company with the name of a counter, reads the counter, and adds one.
func adding(engine *postgres.Engine, counter string) func(ctx context.Context, conn bun.IConn) error {
	return func(ctx context.Context, conn bun.IConn) error {
		if err := engine.Turn(ctx, conn, counter); err != nil {
			return err
		}
		var value int64
		if err := engine.ScanRow(ctx, conn, []any{&value}, "SELECT value FROM counters WHERE name = $1", counter); err != nil {
			return err
		}
		return engine.Later(ctx, conn, "UPDATE counters SET value = $1 WHERE name = $2", value+1, counter)
	}
}

// Two connections are enough: the units that wait for the turn of the busy company have none.
func TestABusyCompanyDelaysNoOther(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	const crowd, rounds = 40, 5
	var all sync.WaitGroup
	came := make(chan struct{}, crowd)
	err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		if err := adding(engine, "a")(ctx, conn); err != nil {
			return err
		}
		if _, _, err := values(ctx, conn); err != nil { // so that the table is locked
			return err
		}
		for range crowd {
			all.Go(func() {
				if err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
					came <- struct{}{}
					return adding(engine, "a")(ctx, conn)
				}); err != nil {
					t.Error(err)
				}
			})
		}
		for range crowd {
			select {
			case <-came:
			case <-time.After(time.Minute):
				return errors.New("a unit waits before it has asked for its turn")
			}
		}
		for range rounds {
			if err := engine.Update(t.Context(), adding(engine, "b")); err != nil {
				return err
			}
			if _, _, err := values(t.Context(), engine.Conn()); err != nil {
				return err
			}
		}
		return nil
	})
	all.Wait()
	if waited := engine.Pools()["pool"].Stats().WaitCount; err != nil || waited != 0 {
		t.Errorf("%d had to wait for a connection: %v", waited, err)
	}
	expectValues(t, engine, 1+crowd, rounds)
}

// Without the lock of the table, which servers share, their units would have conflicts and run again.
func TestUnitsOfServersOnOneDatabaseTakeTurns(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	first := countersAt(t, url)
	second := open(t, url)
	const clients, rounds = 4, 10
	var all sync.WaitGroup
	var runs atomic.Int64
	for _, engine := range []*postgres.Engine{first, second} {
		for range clients {
			all.Go(func() {
				for range rounds {
					if err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
						runs.Add(1)
						return adding(engine, "a")(ctx, conn)
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	if got := runs.Load(); got != 2*clients*rounds {
		t.Errorf("%d units ran %d times", 2*clients*rounds, got)
	}
	expectValues(t, first, 2*clients*rounds, 0)
}

func TestTheTurnEndsWithTheRun(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	conflicts := 3
	for name, end := range map[string]func(ctx context.Context, conn bun.IConn) error{
		"with a commit":  func(context.Context, bun.IConn) error { return nil },
		"with a refusal": func(context.Context, bun.IConn) error { return errors.New("refused") },
		"with a panic":   func(context.Context, bun.IConn) error { panic("in a unit") },
		"with its goroutine": func(context.Context, bun.IConn) error {
			runtime.Goexit()
			return nil
		},
		"with a failure of the server": func(ctx context.Context, conn bun.IConn) error { return raise(ctx, conn, "58000") },
		"with conflicts, and begins again": func(ctx context.Context, conn bun.IConn) error {
			if conflicts--; conflicts < 0 {
				return nil
			}
			return raise(ctx, conn, "40001")
		},
	} {
		for _, sends := range []bool{false, true} {
			var unit sync.WaitGroup
			unit.Go(func() {
				defer func() { _ = recover() }()
				_ = engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
					if err := engine.Turn(ctx, conn, "a"); err != nil {
						return err
					}
					if sends {
						if _, _, err := values(ctx, conn); err != nil {
							return err
						}
					}
					return end(ctx, conn)
				})
			})
			unit.Wait()
			if err := engine.Update(t.Context(), adding(engine, "a")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if conflicts >= 0 {
		t.Errorf("%d conflicts are left", conflicts)
	}
}

// A unit whose turn did not come must not go on without it.
func TestAUnitWithoutItsTurnDoesNotCommit(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	err := whileHeld(t, engine, "a", func() error {
		return engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			waiting, cancel := context.WithCancel(ctx)
			cancel()
			if err := engine.Turn(waiting, conn, "a"); err == nil {
				t.Error("it got the turn")
			}
			if _, _, err := values(ctx, conn); err == nil {
				t.Error("a statement was run")
			}
			return engine.Later(ctx, conn, fmt.Sprintf("UPDATE counters SET value = %d WHERE name = $1", 7), "b")
		})
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	expectValues(t, engine, 0, 0)
}

func TestAUnitThatSendsNothingNeedsNoConnection(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	var kept bun.IConn
	err := whileHeld(t, engine, "a", func() error {
		return whileHeld(t, engine, "b", func() error {
			return engine.Update(t.Context(), func(_ context.Context, conn bun.IConn) error {
				kept = conn
				return nil
			})
		})
	})
	if err != nil {
		t.Error(err)
	}
	if _, _, err := values(t.Context(), kept); err == nil {
		t.Error("a unit that is over took a connection")
	}
	if inUse := engine.Pools()["pool"].Stats().InUse; inUse != 0 {
		t.Errorf("%d connections are in use", inUse)
	}
}
