package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
)

func TestAClosedStoreIsOneFile(t *testing.T) {
	t.Parallel()
	for _, exclusive := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "holdco.db")
		must(t, serveNotes(t, sqlite.Options{Path: path, Exclusive: exclusive}).Close())
		expectAlone(t, path, 1)
		for _, name := range []string{path + "-wal", path + "-shm"} {
			if _, err := os.Stat(name); !os.IsNotExist(err) {
				t.Errorf("%s is still there (%v)", name, err)
			}
		}
	}
}

func TestAServerLeavesOneFileWhileACommandHasItOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	server := serveNotes(t, sqlite.Options{Path: path, Exclusive: true})
	command := notebook{t, open(t, sqlite.Options{Path: path})}
	must(t, command.update(insert(2)))
	must(t, server.Close())
	expectAlone(t, path, 1, 2)
	must(t, command.update(insert(3)))
	must(t, command.Close())
	expectAlone(t, path, 1, 2, 3)
}

func TestAServerClosesWhileACommandReads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	server := serveNotes(t, sqlite.Options{Path: path, Exclusive: true})
	command := notebook{t, open(t, sqlite.Options{Path: path})}
	must(t, command.View(t.Context(), func(context.Context, bun.IConn) error {
		must(t, server.update(insert(2)))
		began := time.Now()
		must(t, server.Close())
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %s to close", took)
		}
		return nil
	}))
	must(t, command.Close())
	expectAlone(t, path, 1, 2)
}

// serveNotes opens a notebook that has the number 1, and has compiled statements of every kind.
func serveNotes(t *testing.T, options sqlite.Options) notebook {
	t.Helper()
	notes := notebook{t, open(t, options)}
	must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, "CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT)")
		return err
	}))
	must(t, notes.update(insert(1)))
	read := func(ctx context.Context, conn bun.IConn) error {
		var n int
		return conn.QueryRowContext(ctx, "SELECT n FROM notes WHERE n = ?", 1).Scan(&n)
	}
	must(t, read(t.Context(), notes.Conn()))
	must(t, notes.View(t.Context(), read))
	return notes
}

// expectAlone copies the file without what lies beside it, and looks for exactly these numbers.
func expectAlone(t *testing.T, path string, want ...int) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, os.WriteFile(backup, content, 0o600))
	db, err := sql.Open("sqlite", backup)
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT n FROM notes ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []int
	for rows.Next() {
		var n int
		must(t, rows.Scan(&n))
		got = append(got, n)
	}
	if must(t, rows.Err()); !slices.Equal(got, want) {
		t.Errorf("the file alone holds %v, want %v", got, want)
	}
}
