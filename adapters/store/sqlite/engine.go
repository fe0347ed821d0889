package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"holdco/adapters/store/sqlstore"
	"holdco/ports/outbound"
)

// Engine is an open database. It is safe for use by many goroutines.
type Engine struct {
	path       string  // of the file
	db         *bun.DB // builds queries
	pool       *sql.DB // of readers that may take long
	statements *statementCache
	lookups    *lookups
	writer     *writer
	migrator   *sqlstore.Migrator
	closers    []func() error // in the order of opening

	longestLog int64 // see Tidy
}

var _ sqlstore.Engine = (*Engine)(nil)

// Migrator brings the schema of the database to what this program needs.
func (e *Engine) Migrator() *sqlstore.Migrator { return e.migrator }

// Pools returns the connection pools, by what they are for, to read their statistics.
func (e *Engine) Pools() map[string]*sql.DB {
	return map[string]*sql.DB{"readers": e.pool, "lookups": e.lookups.pool, "writer": e.writer.on.pool}
}

// Batches returns how many batches were committed since the database was opened, and how many units of work in them.
func (e *Engine) Batches() (batches, units int64) {
	return e.writer.counts()
}

// Close waits for the units that have begun, refuses all others, and closes the database. A second call does nothing.
func (e *Engine) Close() error {
	closers := e.closers
	e.closers = nil
	var failures []error
	for _, closer := range slices.Backward(closers) {
		failures = append(failures, closer())
	}
	return errors.Join(failures...)
}

func (e *Engine) onClose(closer func() error) { e.closers = append(e.closers, closer) }

// DB implements sqlstore.Engine.
func (e *Engine) DB() *bun.DB { return e.db }

// single is the connection of reads outside of any transaction. Those with arguments are lookups, which have a pool of their
// own.
type single struct{ session }

// Conn implements sqlstore.Engine.
func (e *Engine) Conn() bun.IConn { return single{session{e.pool, e.lookups.statements.statement}} }

// Lookup implements sqlstore.Engine. A lookup runs in this process and needs no timeout once it is admitted.
func (e *Engine) Lookup(ctx context.Context, conn bun.IConn) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	done := func() {}
	if _, ok := conn.(single); ok { // otherwise the read has the connection of its transaction
		if err := e.lookups.begin(ctx); err != nil {
			return nil, nil, err
		}
		done = e.lookups.end
	}
	return context.WithoutCancel(ctx), done, nil
}

// ScanRow implements sqlstore.Engine.
func (e *Engine) ScanRow(ctx context.Context, conn bun.IConn, columns []any, text string, args ...any) error {
	return conn.QueryRowContext(ctx, text, args...).Scan(columns...)
}

// ScanRows implements sqlstore.Engine.
func (e *Engine) ScanRows(ctx context.Context, conn bun.IConn, columns []any, take func() error, text string, args ...any) error {
	return sqlstore.ScanRows(ctx, conn, columns, take, text, args...)
}

// Later implements sqlstore.Engine. It runs the statement at once: there is no round trip to save.
func (e *Engine) Later(ctx context.Context, conn bun.IConn, text string, args ...any) error {
	_, err := conn.ExecContext(ctx, text, args...)
	return err
}

// LaterOne implements sqlstore.Engine.
func (e *Engine) LaterOne(ctx context.Context, conn bun.IConn, text string, args ...any) error {
	result, err := conn.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows != 1 {
		return cmp.Or(err, sqlstore.ErrNotOne)
	}
	return nil
}

// Placeholder implements sqlstore.Engine.
func (e *Engine) Placeholder(n int) string { return "?" + strconv.Itoa(n) }

// InList implements sqlstore.Engine. A join that begins with the list is faster than IN, which sorts it first.
func (e *Engine) InList(query *bun.SelectQuery, column string) *bun.SelectQuery {
	return query.ModelTableExpr("json_each(?) AS listed CROSS JOIN ?TableName AS ?TableAlias", bun.Safe(e.Placeholder(1))).
		Where("?TableAlias.? = listed.value", bun.Ident(column))
}

// Listed implements sqlstore.Engine.
func (e *Engine) Listed(n int) string { return "json_each(" + e.Placeholder(n) + ") AS listed" }

// List implements sqlstore.Engine.
func (e *Engine) List(of any) (any, error) {
	text, err := json.Marshal(of)
	return string(text), err
}

// InsertRows implements sqlstore.Engine. It inserts row by row: more rows per statement would not be faster.
func (e *Engine) InsertRows(ctx context.Context, conn bun.IConn, table string, columns []string, rows iter.Seq[[]any]) error {
	text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") " + values(len(columns))
	for row := range rows {
		if _, err := conn.ExecContext(ctx, text, row...); err != nil {
			return err
		}
	}
	return nil
}

// Rows implements sqlstore.Engine.
func (e *Engine) Rows(row []any) string { return values(len(row)) }

// values is a VALUES clause for a row of so many cells.
func values(cells int) string {
	return "VALUES (" + strings.Join(slices.Repeat([]string{"?"}, cells), ", ") + ")"
}

// RunRows implements sqlstore.Engine.
func (e *Engine) RunRows(ctx context.Context, conn bun.IConn, text string, rows [][]any) error {
	for _, row := range rows {
		if _, err := conn.ExecContext(ctx, text, row...); err != nil {
			return err
		}
	}
	return nil
}

// View implements sqlstore.Engine. A transaction must not wait for a second connection: if all of them did, none would ever
// get one. So a statement that is not cached is prepared on the connection of the transaction, and cached afterwards.
func (e *Engine) View(ctx context.Context, read func(ctx context.Context, conn bun.IConn) error) error {
	var missed []string
	err := e.view(ctx, read, func(ctx context.Context, tx *sql.Tx, text string) (*sql.Stmt, error) {
		if statement := e.statements.cached(text); statement != nil {
			return tx.StmtContext(ctx, statement), nil
		}
		missed = append(missed, text)
		return tx.PrepareContext(ctx, text)
	})
	for _, text := range missed {
		_ = e.statements.prepare(ctx, text) // if this fails, the next view retries
	}
	return err
}

func (e *Engine) view(
	ctx context.Context, read func(ctx context.Context, conn bun.IConn) error,
	statement func(ctx context.Context, tx *sql.Tx, text string) (*sql.Stmt, error),
) error {
	conn, err := connect(ctx, e.pool)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	// BEGIN alone takes no snapshot; the first read does.
	if _, err := tx.ExecContext(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1"); err != nil {
		return err
	}
	return read(ctx, session{tx, func(ctx context.Context, text string) (*sql.Stmt, error) { return statement(ctx, tx, text) }})
}

// connect takes a connection of a pool, or fails with errBusy after waitTimeout.
func connect(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	conn, err := pool.Conn(waiting)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return nil, errBusy
	}
	return conn, err
}

// Update implements sqlstore.Engine.
func (e *Engine) Update(ctx context.Context, unit func(ctx context.Context, conn bun.IConn) error) error {
	return e.writer.update(ctx, unit)
}

// Concurrent implements sqlstore.Engine. There is one writer.
func (e *Engine) Concurrent() bool { return false }

// ForUpdate implements sqlstore.Engine. There is one writer, so a unit has every row to itself.
func (e *Engine) ForUpdate(query *bun.SelectQuery) *bun.SelectQuery { return query }

// ForUpdateOf implements sqlstore.Engine.
func (e *Engine) ForUpdateOf(query *bun.SelectQuery, _ string) *bun.SelectQuery { return query }

// SkipLocked implements sqlstore.Engine. There is one writer, so no row is locked by another unit.
func (e *Engine) SkipLocked(query *bun.SelectQuery) *bun.SelectQuery { return query }

// AtPlaceOf implements sqlstore.Engine.
func (e *Engine) AtPlaceOf(found *bun.SelectQuery) schema.QueryWithArgs {
	return bun.SafeQuery("rowid IN (?)", found.ColumnExpr("rowid"))
}

// Horizon implements sqlstore.Engine. There is one writer, and all that it has written is of the transaction 0.
func (e *Engine) Horizon() (oldest, next string) { return "1", "1" }

// LockTable implements sqlstore.Engine. There is one writer, so a unit has every table to itself.
func (e *Engine) LockTable(context.Context, bun.IConn, string) error { return nil }

// Turn implements sqlstore.Engine. There is one writer, so it is always the turn of the unit that runs.
func (e *Engine) Turn(context.Context, bun.IConn, string) error { return nil }

// Now implements sqlstore.Engine.
func (e *Engine) Now(_ context.Context, conn bun.IConn, process outbound.Clock) (time.Time, error) {
	if unit, ok := conn.(*unitConn); ok {
		if err := unit.check(); err != nil {
			return time.Time{}, err
		}
	}
	return process.Now(), nil
}

// NowNext implements sqlstore.Engine. There is no round trip to save.
func (e *Engine) NowNext(bun.IConn) {}

// OnSnapshot implements sqlstore.Engine. Units that write run one after the other.
func (e *Engine) OnSnapshot(bun.IConn) {}

// primary masks the primary result code of an extended one.
const primary = 0xff

// unavailable are the result codes that are caused by the machine, the file, or another program that uses it.
var unavailable = []int{
	sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM,
	sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_PROTOCOL,
	sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_ABORT,
}

// errPoolClosed is what a pool says once it is closed. Package sql has the error, but no name for it.
var errPoolClosed = func() error {
	pool := sql.OpenDB(nil)
	_ = pool.Close()
	return pool.Ping()
}()

// Classify implements sqlstore.Engine.
func (e *Engine) Classify(err error) (failure sqlstore.Failure, constraint string) {
	var failed *sqlite.Error
	switch {
	case errors.As(err, &failed):
		switch code := failed.Code(); {
		case code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			return sqlstore.Duplicate, violated(failed)
		case slices.Contains(unavailable, code&primary):
			return sqlstore.Unavailable, ""
		}
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, errPoolClosed):
		return sqlstore.Unavailable, ""
	}
	return sqlstore.Defect, ""
}

// violated parses the constraint out of a message such as "... UNIQUE constraint failed: teams.company_id, teams.slug
// (2067)". SQLite reports it nowhere else.
func violated(failed *sqlite.Error) string {
	_, list, _ := strings.Cut(failed.Error(), "constraint failed: UNIQUE constraint failed: ")
	list, _, _ = strings.Cut(list, " (")
	var name string
	for i, one := range strings.Split(list, ", ") {
		table, column, _ := strings.Cut(one, ".")
		if i == 0 {
			name = table
		}
		name += "_" + column
		if failed.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
			return table + "_pkey"
		}
	}
	return name
}
