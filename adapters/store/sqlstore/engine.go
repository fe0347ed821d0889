package sqlstore

import (
	"context"
	"iter"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Engine is all that differs between databases. Everything else in this package is written once.
//
// A connection of an engine runs a statement with arguments as a prepared statement, which it caches: see prepare. It runs a
// statement without arguments directly.
type Engine interface {
	// DB builds queries in the engine's dialect. It runs none.
	DB() *bun.DB

	// Conn runs single reads outside of any transaction.
	Conn() bun.IConn

	// Lookup admits a prepared statement that reads on conn, and returns the context to run it with: to watch a context can
	// cost as much as the read. It waits for its turn until a timeout or the end of ctx. Done is called after the read.
	Lookup(ctx context.Context, conn bun.IConn) (limited context.Context, done context.CancelFunc, err error)

	// ScanRow reads the row that a prepared statement finds into columns, or fails with sql.ErrNoRows.
	ScanRow(ctx context.Context, conn bun.IConn, columns []any, text string, args ...any) error

	// ScanRows reads each row that a prepared statement finds into columns, and then calls take.
	ScanRows(ctx context.Context, conn bun.IConn, columns []any, take func() error, text string, args ...any) error

	// Later runs a prepared statement whose result is not needed: in the unit on conn, at its commit at the latest, which
	// then fails if the statement does.
	Later(ctx context.Context, conn bun.IConn, text string, args ...any) error

	// LaterOne is Later for an UPDATE that has to change one row: otherwise it fails.
	LaterOne(ctx context.Context, conn bun.IConn, text string, args ...any) error

	// View runs read on one read-only snapshot.
	View(ctx context.Context, read func(ctx context.Context, conn bun.IConn) error) error

	// Update runs unit as store.Store.Update says. Unit may run more than once.
	Update(ctx context.Context, unit func(ctx context.Context, conn bun.IConn) error) error

	// Placeholder stands for the nth argument of a statement, from 1 on.
	Placeholder(n int) string

	// InList makes a query find the rows with a column that is in a list. The list is the only argument of the statement,
	// and made by List.
	InList(query *bun.SelectQuery, column string) *bun.SelectQuery

	// Listed is a table of one column, listed.value, with the texts of a list that is the nth argument of the statement, and made by
	// List.
	Listed(n int) string

	// List makes an argument of a list of strings or integers.
	List(of any) (any, error)

	// InsertRows inserts rows with these columns into a table, in the unit on conn: thousands at once, in the fastest way. It may take
	// the rows in another goroutine, so that more of them are made while the store writes those before.
	InsertRows(ctx context.Context, conn bun.IConn, table string, columns []string, rows iter.Seq[[]any]) error

	// Rows is the VALUES clause of an INSERT for RunRows, which can have an ON CONFLICT clause. The types of the arguments
	// are those of row.
	Rows(row []any) string

	// RunRows runs an INSERT of Rows whose result is not needed, like Later.
	RunRows(ctx context.Context, conn bun.IConn, text string, rows [][]any) error

	// Concurrent reports whether units of work run concurrently.
	Concurrent() bool

	// ForUpdate makes a query lock the rows that it reads until the unit ends.
	ForUpdate(query *bun.SelectQuery) *bun.SelectQuery

	// ForUpdateOf is ForUpdate for the rows of one table of several.
	ForUpdateOf(query *bun.SelectQuery, table string) *bun.SelectQuery

	// SkipLocked is ForUpdate, but skips the rows that another unit has locked.
	SkipLocked(query *bun.SelectQuery) *bun.SelectQuery

	// AtPlaceOf is true of the rows of a table that a query finds in it. They are found again by their place in the file, with
	// any statistics: by their keys, Postgres goes through the whole table as long as it takes it for small.
	AtPlaceOf(found *bun.SelectQuery) schema.QueryWithArgs

	// Horizon is an expression for the number of the oldest transaction that may still write to the activity log: entries of those
	// before it are all that there will ever be. It differs from all numbers where units do not run at once. Next is an expression
	// for a number that no transaction of this database has reached.
	Horizon() (oldest, next string)

	// Ready fails while the database cannot be written to, as far as the engine can tell without a write for each call.
	Ready(ctx context.Context) error

	// Tidy and Sizes are as store.Store says.
	Tidy(ctx context.Context) (more bool, err error)
	Sizes(ctx context.Context) (store.Sizes, error)

	// LockTable keeps other units from writing to a table until the unit on conn ends: from its next statement on. If the unit
	// has read nothing before, it cannot conflict with those that held the lock before it.
	LockTable(ctx context.Context, conn bun.IConn, table string) error

	// Turn makes the unit on conn wait until no other unit has the turn of this name, which is a company's. It is the first call
	// of the unit. What a unit reads with its next statement is committed by all that had the turn before.
	Turn(ctx context.Context, conn bun.IConn, of string) error

	// OnSnapshot says that the unit on conn needs no more than a snapshot. It is the first call of the unit.
	OnSnapshot(conn bun.IConn)

	// Now is the store's clock, which all processes on the store agree on, in UTC and whole milliseconds, rounded down. A
	// database that runs in this process has its clock. If conn is a unit's that takes a turn, it is read when the unit has it.
	Now(ctx context.Context, conn bun.IConn, process outbound.Clock) (time.Time, error)

	// NowNext announces that Now will be called in the unit on conn: the clock can be read with its next statement, right after it.
	NowNext(conn bun.IConn)

	// Classify returns what an error of the driver means, by its code. For a Duplicate it also returns the name of the
	// constraint: "companies_pkey" for a primary key, otherwise the table with all columns, such as "companies_slug".
	Classify(err error) (failure Failure, constraint string)
}

// Failure is what an error of a driver means.
type Failure int

// The kinds of failure.
const (
	Defect      Failure = iota // a bug of this program
	Duplicate                  // a unique constraint was violated
	Unavailable                // unreachable, busy until the timeout, full, or damaged
)
