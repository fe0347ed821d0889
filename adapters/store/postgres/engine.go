package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"holdco/adapters/store/sqlstore"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Engine is an open database. It is safe for use by many goroutines.
type Engine struct {
	pool      *sql.DB
	db        *bun.DB // on pool
	migrating *sql.DB
	migrator  *sqlstore.Migrator
	turns     [turnTables]*turn // in this process: see Turn
	lastLoss  *losses           // of connections
	fence     *fence            // nil: this restores
	presence  *presence         // of a server; nil: this is none
	few       sync.Map          // fewKey to the text of a statement
	limits    limits

	isPooled    bool // pool is of connections that have another session for each transaction
	hasSessions bool // migrating is not
	isUnhurried bool // see Options
}

var _ sqlstore.Engine = (*Engine)(nil)

// Migrator brings the schema of the database to what this program needs.
func (e *Engine) Migrator() *sqlstore.Migrator { return e.migrator }

// Pools returns the connection pools, by what they are for, to read their statistics.
func (e *Engine) Pools() map[string]*sql.DB { return map[string]*sql.DB{"pool": e.pool} }

// Restored is closed when it was found that another store was restored in the place of this one, which takes a new Engine. It is nil for
// a restoration.
func (e *Engine) Restored() <-chan struct{} {
	if e.fence == nil {
		return nil
	}
	return e.fence.restored
}

// Close closes all connections. It waits for the statements that run.
func (e *Engine) Close() error {
	return errors.Join(e.presence.close(), e.pool.Close(), e.migrating.Close())
}

// DB implements sqlstore.Engine.
func (e *Engine) DB() *bun.DB { return e.db }

// Conn implements sqlstore.Engine.
func (e *Engine) Conn() bun.IConn { return retrying{conn{e.pool}, e.lastLoss} }

// Lookup implements sqlstore.Engine. A server can stop answering, so even a lookup has a timeout.
func (e *Engine) Lookup(ctx context.Context, _ bun.IConn) (context.Context, context.CancelFunc, error) {
	limited, cancel := context.WithTimeout(ctx, sqlstore.ReadTimeout)
	return limited, cancel, nil
}

// Placeholder implements sqlstore.Engine.
func (e *Engine) Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Concurrent implements sqlstore.Engine.
func (e *Engine) Concurrent() bool { return true }

// ForUpdate implements sqlstore.Engine.
func (e *Engine) ForUpdate(query *bun.SelectQuery) *bun.SelectQuery { return query.For("UPDATE") }

// ForUpdateOf implements sqlstore.Engine.
func (e *Engine) ForUpdateOf(query *bun.SelectQuery, table string) *bun.SelectQuery {
	return query.For("UPDATE OF ?", bun.Ident(table))
}

// SkipLocked implements sqlstore.Engine.
func (e *Engine) SkipLocked(query *bun.SelectQuery) *bun.SelectQuery {
	return query.For("UPDATE SKIP LOCKED")
}

// AtPlaceOf implements sqlstore.Engine.
func (e *Engine) AtPlaceOf(found *bun.SelectQuery) schema.QueryWithArgs {
	return bun.SafeQuery("ctid = ANY (ARRAY(?))", found.ColumnExpr("ctid"))
}

// Tidy implements sqlstore.Engine. PostgreSQL uses its space again by itself.
func (e *Engine) Tidy(context.Context) (more bool, err error) { return false, nil }

// Sizes implements sqlstore.Engine.
func (e *Engine) Sizes(ctx context.Context) (sizes store.Sizes, err error) {
	limited, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	err = e.pool.QueryRowContext(limited, "SELECT pg_database_size(current_database())").Scan(&sizes.Data)
	return sizes, err
}

// Ready implements sqlstore.Engine. It asks whether the server takes writes: a standby answers queries too.
func (e *Engine) Ready(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	var readOnly string
	var found int64
	query := "SELECT current_setting('transaction_read_only'), " + generation
	if err := e.pool.QueryRowContext(limited, query).Scan(&readOnly, &found); err != nil {
		return err
	}
	if e.fence != nil {
		if err := e.fence.see(found); err != nil { // a store that was just migrated has its first
			return err
		}
	}
	if readOnly != "off" {
		return errReadOnly
	}
	return nil
}

// Horizon implements sqlstore.Engine. Both are read from the snapshot of the statement, so that it sees all that is before oldest.
func (e *Engine) Horizon() (oldest, next string) {
	return "pg_snapshot_xmin(pg_current_snapshot())::text::bigint", "pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
}

// LockTable implements sqlstore.Engine. The lock does not block readers. LOCK TABLE takes no snapshot, so the unit reads what
// the holder before it committed.
func (e *Engine) LockTable(_ context.Context, conn bun.IConn, table string) error {
	conn.(*unit).later(e.db.NewRaw("LOCK TABLE ? IN SHARE ROW EXCLUSIVE MODE", bun.Ident(table)).String())
	return nil
}

// turnTables is how many empty tables there are to take turns by: turns_00 and so on, made by the migration 00011.
const turnTables = 16

// Turn implements sqlstore.Engine. Companies share the tables, so some wait for others' units too. Of the units of this process
// one at a time waits for the lock of a table, while another that has it may commit. Those behind them wait in line without a
// connection, and so leave the pool to other companies.
func (e *Engine) Turn(ctx context.Context, conn bun.IConn, of string) error {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(of))
	table := hash.Sum32() % turnTables
	u := conn.(*unit)
	if err := u.take(ctx, e.turns[table]); err != nil {
		return err
	}
	e.OnSnapshot(u)
	u.asksTime = true // nearly all that have a turn need it
	return e.LockTable(ctx, conn, fmt.Sprintf("turns_%02d", table))
}

// OnSnapshot implements sqlstore.Engine.
func (e *Engine) OnSnapshot(conn bun.IConn) {
	conn.(*unit).pending.QueuedQueries[0].SQL = beginSnapshot
}

// readClock reads the clock of the server.
const readClock = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

// Now implements sqlstore.Engine. It reads the clock of the server, after the locks that the unit waits for: they are sent
// before it, in one batch.
func (e *Engine) Now(ctx context.Context, conn bun.IConn, _ outbound.Clock) (time.Time, error) {
	var ms int64
	var err error
	if u, ok := conn.(*unit); ok {
		ms, err = u.now(ctx)
	} else {
		err = e.ScanRow(ctx, conn, []any{&ms}, readClock)
	}
	return time.UnixMilli(ms).UTC(), err
}

// NowNext implements sqlstore.Engine.
func (e *Engine) NowNext(conn bun.IConn) { conn.(*unit).asksTime = true }

// ScanRow implements sqlstore.Engine.
func (e *Engine) ScanRow(ctx context.Context, conn bun.IConn, columns []any, text string, args ...any) error {
	if u, ok := conn.(*unit); ok {
		return u.scanRow(ctx, columns, text, args...)
	}
	return conn.QueryRowContext(ctx, text, args...).Scan(columns...)
}

// ScanRows implements sqlstore.Engine.
func (e *Engine) ScanRows(ctx context.Context, conn bun.IConn, columns []any, take func() error, text string, args ...any) error {
	if u, ok := conn.(*unit); ok {
		return u.scanRows(ctx, columns, take, text, args...)
	}
	return sqlstore.ScanRows(ctx, conn, columns, take, text, args...)
}

// LaterOne implements sqlstore.Engine.
func (e *Engine) LaterOne(_ context.Context, conn bun.IConn, text string, args ...any) error {
	conn.(*unit).laterOne(text, args...)
	return nil
}

// Later implements sqlstore.Engine.
func (e *Engine) Later(_ context.Context, conn bun.IConn, text string, args ...any) error {
	conn.(*unit).later(text, args...)
	return nil
}

// View implements sqlstore.Engine.
func (e *Engine) View(ctx context.Context, read func(ctx context.Context, conn bun.IConn) error) error {
	c, err := e.beginView(ctx)
	if e.lastLoss.isLoss(ctx, err) {
		c, err = e.beginView(ctx)
	}
	if err != nil {
		return err
	}
	defer end(ctx, c) // after a panic too
	if e.isUnhurried {
		return read(ctx, conn{c})
	}
	ctx, cancel := context.WithTimeout(ctx, unitTimeout)
	defer cancel()
	return read(ctx, conn{c})
}

// beginView takes a connection and a snapshot. BEGIN alone takes none; the first query does.
func (e *Engine) beginView(ctx context.Context) (*sql.Conn, error) {
	c, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"
	if e.isPooled {
		begin = strings.Join(e.openings("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), "; ") + "; " + e.admission()
	}
	if _, err := c.ExecContext(limited, begin); err != nil {
		end(ctx, c)
		return nil, e.refusal(err)
	}
	return c, nil
}

// Update implements sqlstore.Engine. It retries a unit that conflicts with another, with backoff, until retryTimeout, and once a
// unit that lost its connection before it sent COMMIT.
func (e *Engine) Update(ctx context.Context, work func(ctx context.Context, conn bun.IConn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	giveUp := time.Now().Add(retryTimeout)
	lost := false
	for attempt := 0; ; attempt++ {
		committing, err := e.run(ctx, work)
		switch {
		case err == nil, time.Now().After(giveUp):
			return err
		case isConflict(err):
			backOff(ctx, attempt, 2*time.Millisecond, 100*time.Millisecond)
		case !lost && e.lastLoss.isLoss(ctx, err) && !committing:
			lost = true
		default:
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// run runs a unit once. However long it waits for its turn and for a connection, unitTimeout is left for what follows. It
// reports whether COMMIT was sent.
func (e *Engine) run(ctx context.Context, work func(ctx context.Context, conn bun.IConn) error) (committing bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout+waitTimeout+unitTimeout)
	defer cancel()
	u := newUnit(e)
	defer u.end(ctx) // after a panic too
	if err := work(ctx, u); err != nil {
		return false, cmp.Or(u.failure, err)
	}
	err = u.commit(ctx)
	return u.committing, err
}

// connect takes a connection of the pool. It fails only if the server is at fault, or ctx is done.
func (e *Engine) connect(ctx context.Context) (*sql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	conn, err := e.pool.Conn(waiting)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, sqlstore.NotAvailable(err)
}

var errContinued = errors.New("a unit of work continued after one of its statements had failed")

// end rolls back what was not committed, and returns the connection to the pool, which closes it if it has failed.
func end(ctx context.Context, conn *sql.Conn) {
	if transactionStatus(conn) != idle {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), waitTimeout)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
	}
	_ = conn.Close()
}

// The status of the transaction on a connection.
const (
	idle   = 'I' // there is none
	failed = 'E' // it can only be rolled back
)

func transactionStatus(conn *sql.Conn) (status byte) {
	_ = conn.Raw(func(driverConn any) error {
		status = driverConn.(*stdlib.Conn).Conn().PgConn().TxStatus()
		return nil
	})
	return status
}

// isConflict reports whether a retry of the unit can succeed: after a serialization failure or a deadlock.
func isConflict(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "40001" || answer.Code == "40P01")
}

// Classify implements sqlstore.Engine.
func (e *Engine) Classify(err error) (failure sqlstore.Failure, constraint string) {
	var unreached *pgconn.ConnectError
	var answer *pgconn.PgError
	var broken net.Error // timeouts among them
	switch {
	case errors.As(err, &unreached), isFenced(err):
		return sqlstore.Unavailable, ""
	case errors.As(err, &answer):
		return meaning(answer.Code), answer.ConstraintName
	case errors.As(err, &broken), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), pgconn.SafeToRetry(err),
		errors.Is(err, pgconn.ErrConnClosed), errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
		return sqlstore.Unavailable, ""
	}
	return sqlstore.Defect, ""
}

// meaning classifies an SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html.
func meaning(code string) sqlstore.Failure {
	switch code {
	case "23505": // unique_violation
		return sqlstore.Duplicate
	case readOnly, // read_only_sql_transaction: a standby
		"25P03",          // idle_in_transaction_session_timeout
		"25P04",          // transaction_timeout
		"40001", "40P01", // serialization_failure, deadlock_detected: even after all retries
		"55P03": // lock_not_available
		return sqlstore.Unavailable
	}
	switch code[:2] {
	case "08", // connection exception
		"53", // insufficient resources
		"57", // operator intervention: shutdown, start, statement_timeout
		"58": // system error
		return sqlstore.Unavailable
	}
	return sqlstore.Defect
}
