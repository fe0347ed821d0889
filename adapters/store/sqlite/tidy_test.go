package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/uptrace/bun"
)

func run(t *testing.T, e *Engine, statement string) {
	t.Helper()
	if err := e.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, statement)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSpaceIsGivenBackInSteps(t *testing.T) {
	t.Parallel()
	e, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "holdco.db"), Exclusive: true, Synchronous: Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	run(t, e, "CREATE TABLE filler (b BLOB)")
	for range 10 {
		run(t, e, "INSERT INTO filler VALUES (randomblob(1000000))")
	}
	run(t, e, "DELETE FROM filler")
	steps := 1
	for more := true; more; steps++ {
		if more, err = e.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.longestLog = 0
	if _, err := e.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(t, e, "INSERT INTO filler VALUES (1)") // the log is emptied between two units
	run(t, e, "INSERT INTO filler VALUES (2)")
	sizes, err := e.Sizes(t.Context())
	if err != nil || sizes.Data > 2<<20 || !sizes.HasLog || sizes.Log > 1<<20 || steps < 4 {
		t.Errorf("%+v after %d steps, %v", sizes, steps, err)
	}
}

// Readers that come later wait for a lock as long as before.
func TestALogIsEmptiedByAConnectionOfItsOwn(t *testing.T) {
	t.Parallel()
	e, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "holdco.db"), Exclusive: true, Synchronous: Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	run(t, e, "CREATE TABLE filler (b BLOB)")
	if err := e.TruncateLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	sizes, err := e.Sizes(t.Context())
	var wait int64
	if err := e.pool.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&wait); err != nil {
		t.Fatal(err)
	}
	if err != nil || sizes.Log > 0 || wait != waitTimeout.Milliseconds() {
		t.Errorf("%+v, %v; a reader waits %d ms", sizes, err, wait)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := e.TruncateLog(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
