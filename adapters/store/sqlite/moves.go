package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/domain/move"
	"holdco/ports/store"
)

// Moving implements store.MovingTo for a file. It has the lock of a server.
type Moving struct {
	engine   *Engine
	isTarget bool
	conn     *sql.Conn
	holds    bool // there is a transaction, so that no command writes
	isMade   bool // the file was missing, and nothing was written to it yet
}

var _ store.MovingTo = (*Moving)(nil)

// OpenMoving opens a store that is to be moved.
func OpenMoving(ctx context.Context, path string) (store.Moving, error) {
	return openMoving(ctx, path, false)
}

// OpenMovingTo opens a store that rows are moved to. It may be missing.
func OpenMovingTo(ctx context.Context, path string) (store.MovingTo, error) {
	return openMoving(ctx, path, true)
}

func openMoving(ctx context.Context, path string, isTarget bool) (_ store.MovingTo, err error) {
	// What is written to a target is made durable by Finish.
	options := Options{Path: path, MustExist: !isTarget, Exclusive: true, Moves: true, Synchronous: Full}
	if isTarget {
		options.Synchronous = Normal
	}
	_, missing := os.Stat(path)
	m := &Moving{isTarget: isTarget, isMade: errors.Is(missing, fs.ErrNotExist)}
	if m.engine, err = Open(ctx, options); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	pool, err := m.engine.openPool(m.engine.path, 1,
		"foreign_keys(1)", "synchronous("+string(options.Synchronous)+")", commandCache.pragma())
	if err != nil {
		return nil, err
	}
	if m.conn, err = pool.Conn(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// Hold implements store.Moving. A server is kept away by the lock; commands cannot write while there is a transaction. To a target they can
// write until it has a mark, by which it is no longer empty.
func (m *Moving) Hold(ctx context.Context) error {
	if m.isTarget {
		return nil
	}
	if _, err := m.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain(m.engine.path, err)
	}
	m.holds = true
	return nil
}

// Name implements store.Moving.
func (m *Moving) Name() string { return m.engine.path }

// Identity implements store.Moving.
func (m *Moving) Identity() string { return "file " + m.engine.path }

// Current implements store.Moving.
func (m *Moving) Current(ctx context.Context) error { return m.engine.migrator.Exact(ctx) }

// Mark implements store.Moving.
func (m *Moving) Mark(ctx context.Context) (move.Mark, bool, error) { return markIn(ctx, m.conn) }

// markIn returns the mark of a database, which may have no schema.
func markIn(ctx context.Context, on sqlstore.Queryer) (mark move.Mark, isMarked bool, err error) {
	if canBe, err := hasMarkTable(ctx, on); err != nil || !canBe {
		return mark, false, err
	}
	return sqlstore.MarkOf(ctx, on)
}

func hasMarkTable(ctx context.Context, on sqlstore.Queryer) (bool, error) {
	rows, err := on.QueryContext(ctx, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '"+sqlstore.MarkTable+"'")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	isThere := rows.Next()
	return isThere, rows.Err()
}

// refuseMarked fails if a database has a mark.
func refuseMarked(ctx context.Context, on sqlstore.Queryer) error {
	mark, isMarked, err := markIn(ctx, on)
	if err == nil && isMarked {
		err = mark.Refusal()
	}
	return err
}

// refuseMarked fails if the store has a mark, and this is no move. It comes before all else, which waits for the transaction of a move. Why
// a file cannot be read is for what follows to say.
func (e *Engine) refuseMarked(ctx context.Context, options Options) error {
	if options.Moves || options.Synchronous == off {
		return nil
	}
	db, err := openFile(e.path, "rw", "query_only(1)", busyTimeout(waitTimeout))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := refuseMarked(ctx, db); move.IsRefusal(err) {
		return err
	}
	return nil
}

// errMarked refuses a unit of a command that opened the store before it was moved.
var errMarked = fault.New(fault.Unavailable, "The store takes no more writes.")

// SetMark implements store.Moving.
func (m *Moving) SetMark(ctx context.Context, mark move.Mark) error {
	statement, args := sqlstore.SetMark(mark, m.engine.Placeholder)
	return m.durably(ctx, statement, args...)
}

// Unmark implements store.Moving.
func (m *Moving) Unmark(ctx context.Context) error {
	return m.durably(ctx, "DELETE FROM "+sqlstore.MarkTable)
}

// durably runs a statement, after which power may fail.
func (m *Moving) durably(ctx context.Context, statement string, args ...any) error {
	if _, err := m.conn.ExecContext(ctx, statement, args...); err != nil {
		return explain(m.engine.path, err)
	}
	if !m.holds {
		return m.syncAll(ctx)
	}
	if _, err := m.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return explain(m.engine.path, err)
	}
	m.holds = false
	return m.Hold(ctx)
}

// syncAll copies the log into the file, and makes that durable.
func (m *Moving) syncAll(ctx context.Context) error {
	isBusy, err := truncateLog(ctx, m.conn)
	if isBusy {
		err = errors.New("another program reads it")
	}
	if err != nil {
		return explain(m.engine.path, err)
	}
	return nil
}

// Tables implements store.Moving.
func (m *Moving) Tables(ctx context.Context) (tables []move.Table, err error) {
	known, err := sqlstore.TablesOf(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	names, err := tableNames(ctx, m.conn)
	if err != nil {
		return nil, err
	}
	refersTo := map[string][]string{}
	for _, name := range names {
		if slices.Contains(known, name) && sqlstore.IsMoved(name) {
			if refersTo[name], err = texts(ctx, m.conn, `SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)`, name); err != nil {
				return nil, err
			}
		}
	}
	order, err := sqlstore.InOrder(refersTo)
	if err != nil {
		return nil, err
	}
	for _, name := range order {
		table, err := m.table(ctx, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	return tables, nil
}

func (m *Moving) table(ctx context.Context, name string) (move.Table, error) {
	kinds := map[string]move.Kind{"TEXT": move.Text, "INTEGER": move.Integer}
	return sqlstore.MovedTable(ctx, m.conn, name, kinds, "SELECT name, upper(type), pk FROM pragma_table_info(?)")
}

// Read implements store.Moving.
func (m *Moving) Read(ctx context.Context, of move.Table, after move.Row, take func(row move.Row) error) error {
	byBytes := func(column string) string { return column } // as columns are compared here, unless they say otherwise
	err := sqlstore.ReadMoved(ctx, m.conn, of, after, m.engine.Placeholder, byBytes, take)
	if err != nil && isDamage(err) {
		err = explain(m.engine.path, err)
	}
	return err
}

// Sequences implements store.Moving. Other columns than these go on after the greatest number that they have.
func (m *Moving) Sequences(ctx context.Context) (map[string]int64, error) {
	rows, err := m.conn.QueryContext(ctx, `SELECT s.name || '.' || c.name, s.seq
		FROM sqlite_sequence s, pragma_table_info(s.name) c WHERE c.pk = 1 AND s.name <> '`+sqlstore.SchemaVersions+"'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	last := map[string]int64{}
	for rows.Next() {
		var of string
		var number int64
		if err := rows.Scan(&of, &number); err != nil {
			return nil, err
		}
		last[of] = number
	}
	return last, rows.Err()
}

// Prepare implements store.MovingTo.
func (m *Moving) Prepare(ctx context.Context, mark move.Mark) error {
	fresh, err := freshRows(ctx)
	if err != nil {
		return err
	}
	if err := m.refuseRows(ctx, fresh); err != nil {
		return err
	}
	m.isMade = false
	if _, err := m.engine.migrator.Up(ctx); err != nil {
		return explain(m.engine.path, err)
	}
	if err := m.Current(ctx); err != nil {
		return err
	}
	tables, err := m.Tables(ctx)
	if err != nil {
		return err
	}
	return m.inOne(ctx, func() error {
		if err := m.refuseRows(ctx, fresh); err != nil { // a command may have written meanwhile
			return err
		}
		for _, table := range slices.Backward(tables) {
			if _, err := m.conn.ExecContext(ctx, "DELETE FROM "+strconv.Quote(table.Name)); err != nil {
				return err
			}
		}
		statement, args := sqlstore.SetMark(mark, m.engine.Placeholder)
		_, err := m.conn.ExecContext(ctx, statement, args...)
		return err
	})
}

func (m *Moving) refuseRows(ctx context.Context, fresh map[string]int64) error {
	holds, err := countRows(ctx, m.conn)
	if err != nil {
		return err
	}
	return sqlstore.RefuseRows(m.Name(), holds, fresh, sqlstore.ToMove)
}

// inOne does something in one transaction.
func (m *Moving) inOne(ctx context.Context, do func() error) error {
	if _, err := m.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain(m.engine.path, err)
	}
	err := do()
	if err == nil {
		if _, err = m.conn.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
	}
	_, _ = m.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // SQLite may have done so
	if isUnwritable(err) {
		err = explain(m.engine.path, err)
	}
	return err
}

// Write implements store.MovingTo.
func (m *Moving) Write(ctx context.Context, to move.Table, rows []move.Row, at move.Place) error {
	return m.inOne(ctx, func() (err error) {
		names, places := make([]string, len(to.Columns)), make([]string, len(to.Columns))
		for n, column := range to.Columns {
			names[n], places[n] = strconv.Quote(column.Name), "?"
		}
		insert, err := m.conn.PrepareContext(ctx, "INSERT INTO "+strconv.Quote(to.Name)+" ("+strings.Join(names, ", ")+
			") VALUES ("+strings.Join(places, ", ")+")")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, insert.Close()) }()
		for _, row := range rows {
			if _, err := insert.ExecContext(ctx, row...); err != nil {
				return fmt.Errorf("%s: %w", to.RowName(to.Key(row)), err)
			}
		}
		statement, args := sqlstore.SetPlace(at, m.engine.Placeholder)
		_, err = m.conn.ExecContext(ctx, statement, args...)
		return err
	})
}

// Finish implements store.MovingTo.
func (m *Moving) Finish(ctx context.Context, sequences map[string]int64) error {
	err := m.inOne(ctx, func() error {
		numbering, err := m.Sequences(ctx)
		if err != nil {
			return err
		}
		for of := range numbering { // all that were ever written to, by Write at the latest
			table, _, _ := strings.Cut(of, ".")
			_, err := m.conn.ExecContext(ctx, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", sequences[of], table)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.syncAll(ctx)
}

// Drop implements store.MovingTo.
func (m *Moving) Drop(ctx context.Context) error {
	known, err := sqlstore.TablesOf(migrations, "migrations")
	if err != nil {
		return err
	}
	if _, err := m.conn.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
		return err
	}
	names, err := tableNames(ctx, m.conn)
	if err != nil {
		return err
	}
	err = m.inOne(ctx, func() error {
		for _, name := range names {
			if !slices.Contains(known, name) && name != sqlstore.SchemaVersions {
				continue
			}
			if _, err := m.conn.ExecContext(ctx, "DROP TABLE "+strconv.Quote(name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.syncAll(ctx)
}

// Close implements store.Moving. What was not committed is rolled back. A target that was made for a move which was refused goes.
func (m *Moving) Close() error {
	if m.conn != nil {
		if m.holds {
			_, _ = m.conn.ExecContext(context.Background(), "ROLLBACK")
		}
		_ = m.conn.Close()
	}
	err := m.engine.Close()
	if !m.isMade {
		return err
	}
	for _, more := range beside {
		if gone := os.Remove(m.engine.path + more); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// beside are the endings of the files of a store, which are locks and the log but for the first, that of the store itself.
var beside = []string{"", "-wal", "-shm", ".migrating", ".next", ".writing", ".lock"}
