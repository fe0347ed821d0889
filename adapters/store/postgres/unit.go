package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"golang.org/x/sync/semaphore"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
)

// unit is the connection of one run of a unit of work, which it takes from the pool with the first statement that it sends. It
// saves round trips: BEGIN, and statements whose result is not needed, go to the server in one batch with the next statement or
// with COMMIT.
type unit struct {
	engine  *Engine
	turn    *turn     // that the unit has taken, or nil
	passed  bool      // turn, to the next unit
	on      *sql.Conn // nil: it has none yet
	conn    conn      // on on
	pending pgx.Batch
	opening int  // how many statements of pending are BEGIN, with what belongs to it
	begun   bool // a batch was sent, and BEGIN with it

	committing bool // a batch was sent, and COMMIT with it

	asksTime bool  // the clock is to be read with the next batch
	clock    int64 // what was read then; 0: nothing

	failure error // that ends the unit, even if it continues: it got no turn, no connection, or no answer to QueryRowContext
}

var _ bun.IConn = (*unit)(nil)

// How units begin. One that has the turn of a company needs no more than a snapshot: no other unit changes what it reads, and its
// snapshot is taken after the lock that is its turn. At SERIALIZABLE it would fail because of others: Postgres notes which pages
// of an index were read, and in small tables the rows of many companies share these.
const (
	beginSerializable = "BEGIN ISOLATION LEVEL SERIALIZABLE"
	beginSnapshot     = "BEGIN ISOLATION LEVEL REPEATABLE READ"
)

func newUnit(engine *Engine) *unit {
	u := &unit{engine: engine}
	if engine.isPooled {
		for _, statement := range engine.openings(beginSerializable) {
			u.pending.Queue(statement)
		}
	} else {
		u.pending.Queue(beginSerializable)
	}
	u.opening = len(u.pending.QueuedQueries)
	return u
}

// turn is what units of this process that lock the same table take before they do, so that at most two of them have a connection:
// one that commits, and one that waits for the lock or has it.
type turn struct {
	first *semaphore.Weighted // of all that wait
	last  sync.Mutex          // held from when a unit begins to commit until it has given back its connection
}

// take waits until the unit has a turn, after all that came before it, but not longer than waitTimeout or after ctx is done.
func (u *unit) take(ctx context.Context, turn *turn) error {
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	switch err := turn.first.Acquire(waiting, 1); {
	case err == nil:
		u.turn = turn
	case ctx.Err() != nil:
		u.failure = ctx.Err()
	default:
		u.failure = sqlstore.NotAvailable(err)
	}
	return u.failure
}

// connect takes a connection, unless the unit has one.
func (u *unit) connect(ctx context.Context) error {
	if u.on == nil && u.failure == nil {
		u.on, u.failure = u.engine.connect(ctx)
		u.conn = conn{u.on}
	}
	return u.failure
}

var errOver = errors.New("the unit of work is over; its Tx must not be used any more")

// end rolls back what was not committed, and gives back the connection and the turn.
func (u *unit) end(ctx context.Context) {
	u.failure = errOver
	if u.on != nil {
		end(ctx, u.on)
	}
	switch {
	case u.turn == nil:
	case u.passed:
		u.turn.last.Unlock()
	default:
		u.turn.first.Release(1)
	}
}

// pass lets the next unit of this process begin while this one commits: the lock of the server holds it back until then, and it
// has the lock one round trip earlier. A unit that has sent nothing has no lock yet: the next one would overtake it.
func (u *unit) pass() {
	if u.turn != nil && u.begun {
		u.turn.last.Lock()
		u.turn.first.Release(1)
		u.passed = true
	}
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
		return u.engine.Conn().QueryRowContext(ended, query, args...) // takes no connection
	}
	return u.conn.QueryRowContext(ctx, query, args...)
}

// now is the time by the clock of the server, unless that was read before.
func (u *unit) now(ctx context.Context) (ms int64, err error) {
	if u.clock == 0 || u.failure != nil {
		u.asksTime = false
		err = u.scanRow(ctx, []any{&u.clock}, readClock)
	}
	return u.clock, err
}

// scanRow reads a single row into columns.
func (u *unit) scanRow(ctx context.Context, columns []any, query string, args ...any) error {
	u.pending.Queue(query, args...).QueryRow(func(row pgx.Row) error { return row.Scan(columns...) })
	return u.send(ctx)
}

// scanRows reads each row into columns, and then calls take.
func (u *unit) scanRows(ctx context.Context, columns []any, take func() error, query string, args ...any) error {
	u.pending.Queue(query, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(columns...); err != nil {
				return err
			}
			if err := take(); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return u.send(ctx)
}

// copy copies rows into a table. The driver takes them in a goroutine of its own, where nothing else recovers a panic.
func (u *unit) copy(ctx context.Context, table string, columns []string, rows iter.Seq[[]any]) error {
	if err := u.send(ctx); err != nil {
		return err
	}
	next, stop := iter.Pull(rows)
	defer stop()
	source := pgx.CopyFromFunc(func() (row []any, err error) {
		err = fault.Contain(func() error {
			row, _ = next() // nil ends them
			return nil
		})
		return row, err
	})
	return u.on.Raw(func(driverConn any) error {
		_, err := driverConn.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, source)
		return err
	})
}

// later adds a statement to the pending batch. Its result is not available to the unit.
func (u *unit) later(query string, args ...any) { u.pending.Queue(query, args...) }

// laterOne is later for an UPDATE that has to change one row. COMMIT can be in the same batch, so the server has to refuse: it divides
// by the number of rows.
func (u *unit) laterOne(update string, args ...any) {
	u.later("WITH changed AS ("+update+" RETURNING 1) SELECT 1 / count(*) FROM changed", args...)
}

// divisionByZero is the SQLSTATE of the failure of laterOne: nothing else divides.
const divisionByZero = "22012"

// send sends the pending batch, and returns when all of it has run or one statement has failed: then the server has run none
// of those after it.
func (u *unit) send(ctx context.Context) error {
	if err := u.connect(ctx); err != nil || len(u.pending.QueuedQueries) == 0 {
		return err
	}
	if !u.begun { // fail soon if the server does not answer, but not before its lock timeout
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*waitTimeout)
		defer cancel()
	}
	if u.asksTime {
		u.pending.Queue(readClock).QueryRow(func(row pgx.Row) error { return row.Scan(&u.clock) })
		u.asksTime = false
	}
	if !u.begun && u.engine.isPooled {
		u.admit()
	}
	sent := u.pending
	u.pending, u.begun = pgx.Batch{}, true
	return u.on.Raw(func(driverConn any) error {
		err := driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &sent).Close()
		if answer := new(pgconn.PgError); errors.As(err, &answer) && answer.Code == divisionByZero {
			return fmt.Errorf("%w: %w", sqlstore.ErrNotOne, err)
		}
		return u.engine.refusal(err)
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
	case !u.begun && len(u.pending.QueuedQueries) == u.opening: // BEGIN alone
		return nil
	case u.begun && transactionStatus(u.on) == failed:
		return errContinued // COMMIT would roll back and report success
	}
	if err := u.connect(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout+waitTimeout)
	defer cancel()
	u.asksTime = false
	u.later("COMMIT")
	u.committing = true
	u.pass()
	err := u.send(ctx)
	var answer *pgconn.PgError
	if err == nil || errors.As(err, &answer) && answer.SeverityUnlocalized == "ERROR" {
		return err // with an answer, the transaction was rolled back
	}
	return sqlstore.NotAvailable(err)
}
