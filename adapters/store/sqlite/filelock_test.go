package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
)

func TestAProcessThatWaitsIsTheNextToWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "holdco.db")
		busy := openNotesAt(t, path)
		waiting := notebook{t, open(t, sqlite.Options{Path: path})}
		release := busy.block()
		second := waiting.start(insert(1))
		must(t, release())
		var seen []int
		must(t, busy.update(func(_ context.Context, conn bun.IConn) error {
			seen = busy.readBy(conn)
			return nil
		}))
		if !slices.Equal(seen, []int{0, 1}) {
			t.Errorf("a process that continued at once found %v", seen)
		}
		must(t, <-second)
	})
}

func TestATurnThatNeverEndsKeepsNobodyFromWriting(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".next", ".writing"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "holdco.db")
				notes := openNotesAt(t, path)
				synctest.Wait() // the writer answers before it releases its locks
				stuck := flock.New(path + name)
				locked, err := stuck.TryLock()
				must(t, err)
				if !locked {
					t.Fatal("an engine that does not write holds the locks")
				}
				must(t, notes.update(insert(1)))
				must(t, stuck.Unlock())
				notes.expect(1)
			})
		})
	}
}

func TestTheLogOfACommandStaysShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	server := notebook{t, open(t, sqlite.Options{Path: path, Exclusive: true})}
	notes := openNotesAt(t, path)
	const units, size = 200, 100_000
	for n := range units {
		must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, "INSERT INTO notes (n, text) VALUES (?, ?)", n, strings.Repeat("x", size))
			return err
		}))
	}
	log, err := os.Stat(path + "-wal")
	must(t, err)
	if most := int64(20 * size); log.Size() > most {
		t.Errorf("the log has %d bytes after %d; want at most %d", log.Size(), units*size, most)
	}
	if kept := server.read(); len(kept) != units {
		t.Errorf("another process finds %d of %d", len(kept), units)
	}
}
