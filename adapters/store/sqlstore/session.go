package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
)

// session runs queries in the engine's dialect: on the connection of a transaction, or on any connection of the pool.
type session struct {
	engine     Engine
	statements *statements
	conn       bun.IConn
	unit       *unitState // nil: the session only reads

	clocks  clocks
	instant *time.Time // of the store's clock, zero until it is read; nil: it is read anew each time

	observers  observers // of single reads; nil in a transaction, which is observed as a whole
	autocommit bool      // there is no transaction: each read has a snapshot of its own
}

// on is a session on the connection of a transaction.
func (s session) on(conn bun.IConn) session {
	return session{engine: s.engine, statements: s.statements, conn: conn, clocks: s.clocks, instant: new(time.Time)}
}

func (s session) selects(model any) *bun.SelectQuery {
	return s.engine.DB().NewSelect().Conn(s.conn).Model(model)
}

// selectFrom begins a query of a table that has no model.
func (s session) selectFrom(table string) *bun.SelectQuery {
	return s.engine.DB().NewSelect().Conn(s.conn).Table(table)
}

func (s session) inserts(model any) *bun.InsertQuery {
	return s.engine.DB().NewInsert().Conn(s.conn).Model(model).Returning("NULL")
}

func (s session) updates(model any) *bun.UpdateQuery {
	return s.engine.DB().NewUpdate().Conn(s.conn).Model(model)
}

func (s session) deletes(model any) *bun.DeleteQuery {
	return s.engine.DB().NewDelete().Conn(s.conn).Model(model)
}

// one reads the single row of a query into its model, or fails with missing.
func (s session) one(ctx context.Context, query *bun.SelectQuery, missing error) error {
	err := s.all(ctx, query.Limit(1))
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// ReadTimeout is the timeout of a read, including the wait for a connection.
const ReadTimeout = 10 * time.Second

// all reads the rows of a query into its model.
func (s session) all(ctx context.Context, query *bun.SelectQuery) error { return s.scan(ctx, query) }

// scan reads the result of a query: into its model, into a slice, or a single row into its columns.
func (s session) scan(ctx context.Context, query interface {
	Scan(ctx context.Context, dest ...any) error
}, into ...any,
) error {
	return s.limited(ctx, func(ctx context.Context) error { return query.Scan(ctx, into...) })
}

// limited runs a read with ReadTimeout.
func (s session) limited(ctx context.Context, read func(ctx context.Context) error) error {
	s.use()
	return s.observers.watch(ctx, Read, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, ReadTimeout)
		defer cancel()
		return s.failure(ctx, read(limited))
	})
}

// row reads the single row that a prepared statement finds into its columns, or fails with missing.
func (s session) row(ctx context.Context, columns []any, missing error, statement *prepared, args ...any) error {
	return s.lookup(ctx, func(ctx context.Context) error {
		err := s.engine.ScanRow(ctx, s.conn, columns, s.statements.text(statement), args...)
		if errors.Is(err, sql.ErrNoRows) {
			return missing
		}
		return err
	})
}

// rows calls scan with each row that a prepared statement finds.
func (s session) rows(ctx context.Context, scan func(rows *sql.Rows) error, statement *prepared, args ...any) error {
	return s.lookup(ctx, func(ctx context.Context) error {
		found, err := s.conn.QueryContext(ctx, s.statements.text(statement), args...)
		if err != nil {
			return err
		}
		return scanEach(found, scan)
	})
}

// scanRows reads each row that a prepared statement finds into columns, and then calls take.
func (s session) scanRows(ctx context.Context, columns []any, take func(), statement *prepared, args ...any) error {
	return s.takeRows(ctx, columns, func() error {
		take()
		return nil
	}, statement, args...)
}

// takeRows is scanRows with a take that can fail.
func (s session) takeRows(ctx context.Context, columns []any, take func() error, statement *prepared, args ...any) error {
	return s.lookup(ctx, func(ctx context.Context) error {
		return s.engine.ScanRows(ctx, s.conn, columns, take, s.statements.text(statement), args...)
	})
}

// lookup runs a read that finds no more than a page of rows, by an index.
func (s session) lookup(ctx context.Context, read func(ctx context.Context) error) error {
	s.use()
	return s.observers.watch(ctx, Read, func(ctx context.Context) error {
		limited, done, err := s.engine.Lookup(ctx, s.conn)
		if err != nil {
			return s.failure(ctx, err)
		}
		defer done()
		return s.failure(ctx, read(limited))
	})
}

// snapshot runs several reads on one snapshot.
func (s session) snapshot(ctx context.Context, read func(ctx context.Context, s session) error) error {
	if !s.autocommit {
		return read(ctx, s)
	}
	return s.observers.watch(ctx, View, func(ctx context.Context) error {
		err := s.engine.View(ctx, func(ctx context.Context, conn bun.IConn) error {
			return read(ctx, s.on(conn))
		})
		return s.failure(ctx, err)
	})
}

// each calls scan with each row of a query.
func (s session) each(ctx context.Context, query *bun.SelectQuery, scan func(rows *sql.Rows) error) error {
	return s.limited(ctx, func(ctx context.Context) error {
		rows, err := query.Rows(ctx)
		if err != nil {
			return err
		}
		return scanEach(rows, scan)
	})
}

// ScanRows is Engine.ScanRows for a connection that has no better way.
func ScanRows(ctx context.Context, conn bun.IConn, columns []any, take func() error, text string, args ...any) error {
	rows, err := conn.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	return scanEach(rows, func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		return take()
	})
}

// scanEach calls scan with each row, and closes the rows.
func scanEach(rows *sql.Rows, scan func(rows *sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// count counts the rows of a query.
func (s session) count(ctx context.Context, query *bun.SelectQuery) (count int64, err error) {
	err = s.scan(ctx, query.ColumnExpr("count(*)"), &count)
	return count, err
}

// use notes that the unit runs a statement: it is too late for its turn.
func (s session) use() {
	if s.unit != nil {
		s.unit.used = true
	}
}

// statement is a query that writes.
type statement interface {
	Exec(ctx context.Context, dest ...any) (sql.Result, error)
}

// change writes business rows and returns how many. The unit must then record an event.
func (s session) change(ctx context.Context, write statement) (int, error) {
	rows, err := s.exec(ctx, write)
	if rows > 0 {
		s.unit.changed = true
	}
	return rows, err
}

// changeOne is change for exactly one row.
func (s session) changeOne(ctx context.Context, write statement) error {
	return exactlyOne(s.change(ctx, write))
}

func exactlyOne(rows int, err error) error {
	if err == nil && rows != 1 {
		return ErrNotOne
	}
	return err
}

// ErrNotOne is that of a statement that should have changed one row.
var ErrNotOne = errors.New("no row was changed, or more than one: the row is not there, or was not locked by this unit")

// changeLater is change for a prepared statement whose result is not needed: see later.
func (s session) changeLater(ctx context.Context, of *prepared, args ...any) error {
	s.unit.changed = true
	return s.later(ctx, of, args...)
}

// changeOneLater is changeLater for an UPDATE of exactly one row.
func (s session) changeOneLater(ctx context.Context, of *prepared, args ...any) error {
	s.unit.changed = true
	return s.failure(ctx, s.engine.LaterOne(ctx, s.conn, s.statements.text(of), args...))
}

// changeReadLater is changeOneLater for an UPDATE by nothing but the id of a row. If the unit has read the row, nothing is counted, which
// takes Postgres as long as the UPDATE itself of a small row: the row is there in the snapshot of the unit, and if another unit has changed
// it since, the UPDATE fails.
func (s session) changeReadLater(ctx context.Context, row rowKey, of *prepared, args ...any) error {
	if s.unit.hasRead(row) {
		return s.changeLater(ctx, of, args...)
	}
	return s.changeOneLater(ctx, of, args...)
}

// exec writes rows that need no event, and returns how many.
func (s session) exec(ctx context.Context, write statement) (int, error) {
	s.use()
	result, err := write.Exec(ctx)
	if err != nil {
		return 0, s.failure(ctx, err)
	}
	rows, err := result.RowsAffected()
	return int(rows), err
}

// failure converts an error of the engine to the error that callers get. It returns faults and other errors unchanged.
func (s session) failure(ctx context.Context, err error) error {
	switch {
	case err == nil, fault.Of(err) != nil:
		return err
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil: // package sql rolled the transaction back when the context ended
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded): // a timeout of the store, unless the caller's has passed too
	default:
		if failure, _ := s.engine.Classify(err); failure != Unavailable {
			return ExplainRights(err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return NotAvailable(err)
}

// answer is what the server of a database has refused a statement with.
type answer interface {
	error
	SQLState() string
}

const notPermitted, noSchema, noTable = "42501", "3F000", "42P01"

// ExplainRights says what an operator can do if the server of a database has refused a statement because a right is missing. Where that
// was noticed says no more, and is left out.
func ExplainRights(err error) error {
	var refused answer
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.SQLState() {
	case notPermitted:
		return fmt.Errorf("the user of the database URL has to own the tables of the store, and needs the right to make more (GRANT "+
			"USAGE, CREATE ON SCHEMA ...): %w", refused)
	case noSchema:
		return withoutSchema(refused)
	}
	return err
}

func withoutSchema(refused answer) error {
	return fmt.Errorf("there is no schema that the user of the database URL may use; make one (CREATE SCHEMA ... AUTHORIZATION ...), "+
		"or let it use another (GRANT USAGE, CREATE ON SCHEMA ...): %w", refused)
}

// FailureOf is the error of a store for one of its engine, which a fault already is.
func FailureOf(ctx context.Context, of Engine, err error) error {
	return session{engine: of}.failure(ctx, err)
}

// NotAvailable is the fault of a database that cannot be used now.
func NotAvailable(cause error) error {
	return fault.New(fault.Unavailable, "The store is not available; try again later.").Because(cause)
}

func byID(query *bun.SelectQuery, which any) *bun.SelectQuery {
	return query.Where("id = ?", which).Limit(1)
}

// isDuplicate reports whether an error is the violation of a unique constraint.
func (s session) isDuplicate(err error, constraint string) bool {
	if err == nil {
		return false
	}
	failure, violated := s.engine.Classify(err)
	return failure == Duplicate && violated == constraint
}
