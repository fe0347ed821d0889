package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/move"
	"holdco/ports/store"
)

// Moving implements store.MovingTo for a database. All of it is done on one connection, which has the lock of the store: if that is lost,
// nothing more is written.
type Moving struct {
	engine   *Engine
	config   *pgx.ConnConfig
	conn     *sql.Conn
	identity string
}

var _ store.MovingTo = (*Moving)(nil)

// OpenMoving opens a store that is to be moved.
func OpenMoving(ctx context.Context, options Options) (store.Moving, error) {
	return openMoving(ctx, options)
}

// OpenMovingTo opens a store that rows are moved to.
func OpenMovingTo(ctx context.Context, options Options) (store.MovingTo, error) {
	return openMoving(ctx, options)
}

func openMoving(ctx context.Context, options Options) (_ store.MovingTo, err error) {
	options.Restores = true
	m := &Moving{}
	if m.engine, err = Open(ctx, options); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if m.config, err = pgx.ParseConfig(options.URL); err != nil {
		return nil, err
	}
	if m.conn, err = m.engine.migrating.Conn(ctx); err != nil {
		return nil, err
	}
	var schema string
	err = m.conn.QueryRowContext(ctx, "SELECT coalesce(current_schema(), ''), "+
		"concat_ws(' ', (SELECT system_identifier FROM pg_control_system()), current_database(), current_schema())").
		Scan(&schema, &m.identity)
	if err == nil && schema == "" {
		err = errors.New("the schema that the database URL names does not exist")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Hold implements store.Moving. It waits a moment for the lock: PostgreSQL may not have seen yet that those who had it are gone.
func (m *Moving) Hold(ctx context.Context) error {
	const longest = 3 * time.Second
	for giveUp, attempt := time.Now().Add(longest), 0; ; attempt++ {
		var locked bool
		err := m.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+storeLock+")").Scan(&locked)
		switch {
		case err != nil || locked:
			return err
		case time.Now().After(giveUp):
			return fmt.Errorf("a server or a command has %s open; stop it first", m.Name())
		}
		backOff(ctx, attempt, 20*time.Millisecond, 200*time.Millisecond)
	}
}

// Name implements store.Moving.
func (m *Moving) Name() string {
	host := m.config.Host
	const standard = 5432
	if m.config.Port != standard {
		host = net.JoinHostPort(host, strconv.Itoa(int(m.config.Port)))
	}
	return host + "/" + m.config.Database
}

// Identity implements store.Moving.
func (m *Moving) Identity() string { return m.identity }

// Current implements store.Moving.
func (m *Moving) Current(ctx context.Context) error { return m.engine.migrator.Exact(ctx) }

// Mark implements store.Moving.
func (m *Moving) Mark(ctx context.Context) (mark move.Mark, isMarked bool, err error) {
	var isThere bool
	err = m.conn.QueryRowContext(ctx, "SELECT "+hasMarks).Scan(&isThere)
	if err != nil || !isThere {
		return mark, false, err
	}
	return sqlstore.MarkOf(ctx, m.conn)
}

// hasMarks reports whether a store has the table for its mark.
const hasMarks = "to_regclass(quote_ident(current_schema()) || '." + sqlstore.MarkTable + "') IS NOT NULL"

// SetMark implements store.Moving.
func (m *Moving) SetMark(ctx context.Context, mark move.Mark) error {
	statement, args := sqlstore.SetMark(mark, m.engine.Placeholder)
	_, err := m.conn.ExecContext(ctx, statement, args...)
	return explainMoving(err)
}

// Unmark implements store.Moving.
func (m *Moving) Unmark(ctx context.Context) error {
	_, err := m.conn.ExecContext(ctx, "DELETE FROM "+sqlstore.MarkTable)
	return explainMoving(err)
}

// explainMoving says what an operator can do about a server that does not let rows be moved, or that was lost.
func explainMoving(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == notPermitted {
		return sqlstore.ExplainRights(err)
	}
	return explainBroken(explainServer(err), "what was moved stays")
}

// Tables implements store.Moving.
func (m *Moving) Tables(ctx context.Context) (tables []move.Table, err error) {
	names, err := tablesIn(ctx, m.conn, "current_schema()")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if isTurn(name) || !sqlstore.IsMoved(name) {
			continue
		}
		table, err := m.table(ctx, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	return tables, nil
}

func (m *Moving) table(ctx context.Context, name string) (move.Table, error) {
	kinds := map[string]move.Kind{"text": move.Text, "bigint": move.Integer}
	return sqlstore.MovedTable(ctx, m.conn, name, kinds, `
		SELECT a.attname, CASE WHEN a.attgenerated = '' THEN format_type(a.atttypid, a.atttypmod) ELSE '' END,
			coalesce(array_position(x.indkey::int[], a.attnum::int), -1) + 1
		FROM pg_attribute a LEFT JOIN pg_index x ON x.indrelid = a.attrelid AND x.indisprimary
		WHERE a.attrelid = (quote_ident(current_schema()) || '.' || quote_ident($1))::regclass
			AND a.attnum > 0 AND NOT a.attisdropped`)
}

// Read implements store.Moving.
func (m *Moving) Read(ctx context.Context, of move.Table, after move.Row, take func(row move.Row) error) error {
	byBytes := func(column string) string { return column + ` COLLATE "C"` }
	return explainMoving(sqlstore.ReadMoved(ctx, m.conn, of, after, m.engine.Placeholder, byBytes, take))
}

// Sequences implements store.Moving.
func (m *Moving) Sequences(ctx context.Context) (map[string]int64, error) {
	found, err := sequences(ctx, m.conn)
	return found, explainMoving(err)
}

// Prepare implements store.MovingTo.
func (m *Moving) Prepare(ctx context.Context, mark move.Mark) error {
	holds, err := rowsIn(ctx, m.conn, "current_schema()")
	if err != nil {
		return err
	}
	fresh, err := m.engine.freshRows(ctx)
	if err != nil {
		return explainMoving(err)
	}
	if err := sqlstore.RefuseRows(m.Name(), holds, fresh, sqlstore.ToMove); err != nil {
		return err
	}
	if _, err := m.engine.migrator.Up(ctx); err != nil {
		return explainMoving(err)
	}
	if err := m.Current(ctx); err != nil {
		return err
	}
	tables, err := m.Tables(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(tables))
	for n, table := range tables {
		names[n] = quoted(table.Name)
	}
	return explainMoving(m.inOne(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil {
			return err
		}
		statement, args := sqlstore.SetMark(mark, m.engine.Placeholder)
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// freshRows are how many rows the tables of a store have that was just migrated.
func (e *Engine) freshRows(ctx context.Context) (rows map[string]int64, err error) {
	err = e.asNew(ctx, func(on conn) (err error) {
		rows, err = rowsIn(ctx, on, "pg_my_temp_schema()")
		return err
	})
	return rows, err
}

// asNew makes a new store of the temporary tables of a transaction, which is rolled back: nobody else sees them, and nothing of them stays.
func (e *Engine) asNew(ctx context.Context, use func(on conn) error) error {
	tx, err := e.migrating.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	on := conn{tx}
	if _, err := on.ExecContext(ctx, "SET LOCAL search_path = pg_temp; SET LOCAL client_min_messages = error"); err != nil {
		return err
	}
	files, err := fs.Glob(migrations, "migrations/*.sql") // by their numbers
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		if _, err := on.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("make a new schema to compare with: %s: %w", name, err)
		}
	}
	return use(on)
}

// inOne does something in one transaction.
func (m *Moving) inOne(ctx context.Context, do func(tx pgx.Tx) error) error {
	return onConn(m.conn, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, do)
	})
}

// Write implements store.MovingTo. COPY also writes columns that otherwise number their rows.
func (m *Moving) Write(ctx context.Context, to move.Table, rows []move.Row, at move.Place) error {
	names := make([]string, len(to.Columns))
	for n, column := range to.Columns {
		names[n] = column.Name
	}
	for _, row := range rows {
		if err := to.CheckText(row); err != nil {
			return err
		}
	}
	return explainMoving(m.inOne(ctx, func(tx pgx.Tx) error {
		from := pgx.CopyFromSlice(len(rows), func(n int) ([]any, error) { return rows[n], nil })
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{to.Name}, names, from); err != nil {
			return fmt.Errorf("%s, or one of the %d after it: %w", to.RowName(to.Key(rows[0])), len(rows)-1, err)
		}
		statement, args := sqlstore.SetPlace(at, m.engine.Placeholder)
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

// Finish implements store.MovingTo.
func (m *Moving) Finish(ctx context.Context, sequences map[string]int64) error {
	if err := setSequences(ctx, m.conn, sequences); err != nil {
		return explainMoving(err)
	}
	tables, err := m.Tables(ctx)
	if err != nil {
		return explainMoving(err)
	}
	for _, table := range tables {
		if _, err := m.conn.ExecContext(ctx, "ANALYZE "+quoted(table.Name)); err != nil {
			return explainMoving(err)
		}
	}
	return nil
}

// Drop implements store.MovingTo.
func (m *Moving) Drop(ctx context.Context) error {
	names, err := tablesIn(ctx, m.conn, "current_schema()")
	if err != nil {
		return err
	}
	return explainMoving(m.inOne(ctx, func(tx pgx.Tx) error {
		for _, name := range slices.Backward(names) {
			if _, err := tx.Exec(ctx, "DROP TABLE "+quoted(name)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Close implements store.Moving. The lock ends with the connection.
func (m *Moving) Close() error {
	if m.conn != nil {
		_, unlocking := m.conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock_all()")
		_ = unlocking // the connection is lost, and the lock with it
		_ = m.conn.Close()
	}
	return m.engine.Close()
}
