package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// unit is the connection of one run of a unit of work. It spares the unit most of its round trips: BEGIN, and whatever
// nobody waits for, goes to the server together with the next statement or with COMMIT.
type unit struct {
	conn    conn
	on      *sql.Conn
	waiting pgx.Batch
	begun   bool  // the server knows of the unit
	failure error // that the unit could not be told
}

var _ bun.IConn = (*unit)(nil)

func newUnit(on *sql.Conn) *unit {
	u := &unit{conn: conn{on}, on: on}
	u.waiting.Queue("BEGIN ISOLATION LEVEL SERIALIZABLE")
	return u
}

func (u *unit) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if len(args) == 0 {
		if err := u.send(ctx); err != nil {
			return nil, err
		}
		return u.conn.ExecContext(ctx, query)
	}
	var rows int64
	u.waiting.Queue(query, args...).Exec(func(tag pgconn.CommandTag) error {
		rows = tag.RowsAffected()
		return nil
	})
	err := u.send(ctx)
	return driver.RowsAffected(rows), err
}

func (u *unit) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := u.send(ctx); err != nil {
		return nil, err
	}
	return u.conn.QueryContext(ctx, query, args...)
}

// QueryRowContext cannot tell why what waited has failed: the end of the unit does.
func (u *unit) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := u.send(ctx); err != nil {
		u.failure = err
		ended, cancel := context.WithCancel(ctx)
		cancel()
		return u.conn.QueryRowContext(ended, query, args...)
	}
	return u.conn.QueryRowContext(ctx, query, args...)
}

// scanRow reads a single row into columns.
func (u *unit) scanRow(ctx context.Context, columns []any, query string, args ...any) error {
	u.waiting.Queue(query, args...).QueryRow(func(row pgx.Row) error { return row.Scan(columns...) })
	return u.send(ctx)
}

// copy copies rows into a table.
func (u *unit) copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	if err := u.send(ctx); err != nil {
		return err
	}
	return u.on.Raw(func(driverConn any) error {
		_, err := driverConn.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
		return err
	})
}

// later lets a statement wait. A result that the unit would have to look at comes too late.
func (u *unit) later(query string, args ...any) { u.waiting.Queue(query, args...) }

// send sends what waits in one go, and returns when all of it is done or the first of it has failed: then the server has
// done nothing of what follows.
func (u *unit) send(ctx context.Context) error {
	if len(u.waiting.QueuedQueries) == 0 {
		return nil
	}
	if !u.begun { // whether the server has fallen silent is found out here, soon, but not before a lock is given up
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*patience)
		defer cancel()
	}
	sent := u.waiting
	u.waiting, u.begun = pgx.Batch{}, true
	return u.on.Raw(func(driverConn any) error {
		return driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &sent).Close()
	})
}

// commit commits, unless the unit has not said anything to the server. A context that ends meanwhile must not interrupt
// it: what is acknowledged is durable, and what is not is unknown only when the connection breaks.
func (u *unit) commit(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case u.failure != nil:
		return u.failure
	case !u.begun && len(u.waiting.QueuedQueries) == 1: // BEGIN alone
		return nil
	case transactionStatus(u.on) == failed:
		return errWentOn // COMMIT would roll back and say that all is well
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementLimit+patience)
	defer cancel()
	u.later("COMMIT")
	err := u.send(ctx)
	var answer *pgconn.PgError
	if err == nil || errors.As(err, &answer) && answer.SeverityUnlocalized == "ERROR" {
		return err // with an answer, the transaction was rolled back
	}
	return unavailable(err)
}
