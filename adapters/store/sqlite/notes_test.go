package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
)

// notebook is an engine with a table of numbers, to see which units were committed.
type notebook struct {
	t *testing.T
	*sqlite.Engine
}

type work = func(ctx context.Context, conn bun.IConn) error

func openNotes(t *testing.T) notebook { return openNotesAt(t, filepath.Join(t.TempDir(), "holdco.db")) }

func openNotesAt(t *testing.T, path string) notebook {
	t.Helper()
	return openNotesIn(t, open(t, sqlite.Options{Path: path}))
}

func openNotesIn(t *testing.T, engine *sqlite.Engine) notebook {
	t.Helper()
	notes := notebook{t, engine}
	must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, `
			CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT);
			CREATE TABLE remarks (note INTEGER REFERENCES notes (n))`)
		return err
	}))
	return notes
}

func insert(n int) work {
	return func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO notes (n) VALUES (?)", n)
		return err
	}
}

func (n notebook) update(unit work) error { return n.Update(n.t.Context(), unit) }

// block starts a unit that writes 0 and then blocks the writer until release is called, which waits for its outcome.
func (n notebook) block() (release func() error) {
	blocked := make(chan struct{})
	outcome := n.start(func(ctx context.Context, conn bun.IConn) error {
		<-blocked
		return insert(0)(ctx, conn)
	})
	return func() error {
		close(blocked)
		return <-outcome
	}
}

// errGone is the outcome of a unit whose goroutine has ended.
var errGone = errors.New("gone")

// start starts a unit in a goroutine of its own and waits until it can go no further. What it panics with is its
// outcome.
func (n notebook) start(unit work) chan error { return n.startWith(n.t.Context(), unit) }

func (n notebook) startWith(ctx context.Context, unit work) chan error {
	outcome := make(chan error, 1)
	go func() {
		err := errGone
		defer func() {
			if defect := recover(); defect != nil {
				err = fmt.Errorf("%v", defect)
			}
			outcome <- err
		}()
		err = n.Update(ctx, unit)
	}()
	synctest.Wait()
	return outcome
}

func (n notebook) read() []int { return n.readBy(n.DB().DB) }

func (n notebook) readBy(conn bun.IConn) []int {
	n.t.Helper()
	numbers := []int{}
	err := n.DB().NewSelect().Conn(conn).Table("notes").Column("n").Order("n").Scan(context.Background(), &numbers)
	must(n.t, err)
	return numbers
}

func (n notebook) expect(want ...int) {
	n.t.Helper()
	if got := n.read(); !slices.Equal(got, want) {
		n.t.Errorf("kept %v, want %v", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
