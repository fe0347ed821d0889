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

	"holdco/adapters/store/sqlstore"
)

// unit is the connection of one run of a unit of work. It saves round trips: BEGIN, and statements whose result is not
// needed, go to the server in one batch with the next statement or with COMMIT.
type unit struct {
	conn    conn
	on      *sql.Conn
	pending pgx.Batch
	begun   bool  // a batch was sent, and BEGIN with it
	failure error // that QueryRowContext could not return
}

var _ bun.IConn = (*unit)(nil)

func newUnit(on *sql.Conn) *unit {
	u := &unit{conn: conn{on}, on: on}
	u.pending.Queue("BEGIN ISOLATION LEVEL SERIALIZABLE")
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
	u.pending.Queue(query, args...).Exec(func(tag pgconn.CommandTag) error {
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

// QueryRowContext cannot return why the pending batch failed: commit does.
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
	u.pending.Queue(query, args...).QueryRow(func(row pgx.Row) error { return row.Scan(columns...) })
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

// later adds a statement to the pending batch. Its result is not available to the unit.
func (u *unit) later(query string, args ...any) { u.pending.Queue(query, args...) }

// send sends the pending batch, and returns when all of it has run or one statement has failed: then the server has run none
// of those after it.
func (u *unit) send(ctx context.Context) error {
	if len(u.pending.QueuedQueries) == 0 {
		return nil
	}
	if !u.begun { // fail soon if the server does not answer, but not before its lock timeout
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*waitTimeout)
		defer cancel()
	}
	sent := u.pending
	u.pending, u.begun = pgx.Batch{}, true
	return u.on.Raw(func(driverConn any) error {
		return driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &sent).Close()
	})
}

// commit commits, unless the unit has sent nothing to the server. The end of the caller's context does not interrupt it: so
// the outcome is unknown only if the connection breaks.
func (u *unit) commit(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case u.failure != nil:
		return u.failure
	case !u.begun && len(u.pending.QueuedQueries) == 1: // BEGIN alone
		return nil
	case transactionStatus(u.on) == failed:
		return errContinued // COMMIT would roll back and report success
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout+waitTimeout)
	defer cancel()
	u.later("COMMIT")
	err := u.send(ctx)
	var answer *pgconn.PgError
	if err == nil || errors.As(err, &answer) && answer.SeverityUnlocalized == "ERROR" {
		return err // with an answer, the transaction was rolled back
	}
	return sqlstore.NotAvailable(err)
}
