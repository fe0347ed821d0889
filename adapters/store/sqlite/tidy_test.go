package sqlite

import (
	"context"
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
