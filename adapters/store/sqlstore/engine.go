package sqlstore

import (
	"context"

	"github.com/uptrace/bun"
)

// Engine is all that differs between databases. Everything else in this package is written once.
//
// The connections that an engine hands out compile a statement that comes with arguments once, and keep it: such texts
// must be few, and must find by an index no more than a page of rows, for an engine need not interrupt them. A statement
// without arguments is compiled each time.
type Engine interface {
	// DB builds queries in the engine's dialect. It runs none.
	DB() *bun.DB

	// Conn runs single reads outside of any unit.
	Conn() bun.IConn

	// Lookup admits a read that comes with arguments on conn, and returns the context for it: to watch one can cost as much
	// as the read. It waits for its turn for a limited time, or until the caller leaves. Done is called after the read.
	Lookup(ctx context.Context, conn bun.IConn) (limited context.Context, done context.CancelFunc, err error)

	// ScanRow reads the row of a statement that comes with arguments into columns, or fails with sql.ErrNoRows.
	ScanRow(ctx context.Context, conn bun.IConn, columns []any, text string, args ...any) error

	// Later runs a statement that comes with arguments, and nobody looks at what comes of it: in the unit on conn, and at
	// its end at the latest, which fails if the statement does.
	Later(ctx context.Context, conn bun.IConn, text string, args ...any) error

	// View runs read on one read-only snapshot.
	View(ctx context.Context, read func(ctx context.Context, conn bun.IConn) error) error

	// Update runs unit as store.Store.Update says. Unit may run more than once.
	Update(ctx context.Context, unit func(ctx context.Context, conn bun.IConn) error) error

	// Placeholder stands for the nth argument of a statement, from 1 on.
	Placeholder(n int) string

	// InList makes a query find the rows with a column that is in a list. The list is the only argument of the statement,
	// and made by List.
	InList(query *bun.SelectQuery, column string) *bun.SelectQuery

	// List makes an argument of a list of texts or integers.
	List(of any) (any, error)

	// InsertRows inserts rows with these columns into a table, in the unit on conn: thousands at once, by the quickest way.
	InsertRows(ctx context.Context, conn bun.IConn, table string, columns []string, rows [][]any) error

	// Rows stands for what an INSERT inserts, for those that need more than InsertRows: any number of rows with arguments
	// such as those of one row.
	Rows(row []any) string

	// RunRows runs an INSERT of Rows, and nobody looks at what comes of it: in the unit on conn, and at its end at the
	// latest, which fails if the INSERT does.
	RunRows(ctx context.Context, conn bun.IConn, text string, rows [][]any) error

	// Concurrent reports whether units of work run beside each other. Otherwise each has the whole database to itself.
	Concurrent() bool

	// ForUpdate makes a query lock the rows that it reads until the unit ends.
	ForUpdate(query *bun.SelectQuery) *bun.SelectQuery

	// SkipLocked is ForUpdate, but passes over the rows that another unit has locked.
	SkipLocked(query *bun.SelectQuery) *bun.SelectQuery

	// Ready fails while the database cannot be written to, as far as the engine can see without a write for each call.
	Ready(ctx context.Context) error

	// LockTable keeps other units from writing to a table until the unit on conn ends.
	LockTable(ctx context.Context, conn bun.IConn, table string) error

	// Classify returns what an error of the driver means, by its code. Of a Duplicate it returns the name of the constraint
	// too: "companies_pkey" for a primary key, otherwise the table with all columns, such as "companies_slug".
	Classify(err error) (failure Failure, constraint string)
}

// Failure is what an error of a driver means.
type Failure int

// The failures that callers tell apart.
const (
	Defect      Failure = iota // a fault of this program
	Duplicate                  // a unique constraint holds such a row
	Unavailable                // unreachable, busy past the time limit, full, or out of order
)
