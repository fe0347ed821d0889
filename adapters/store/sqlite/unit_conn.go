package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// unitConn is the writer's transaction as one run of a unit uses it. Before each statement it checks whether the unit may
// continue. It never interrupts a statement that has begun, because that would roll back all units of the batch.
type unitConn struct {
	transaction *transaction
	caller      context.Context
	until       time.Time
	over        bool
	wrote       bool           // a statement has changed something, see hasWritten
	counted     bool           // changes is set
	changes     int64          // the count of changes before the first statement whose result has none
	open        []func() error // the rows of statements that write
	refused     error          // why the unit may not continue
}

var _ bun.IConn = (*unitConn)(nil)

func (c *unitConn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	kind := kindOf(query)
	if kind != changes {
		if err := c.prepare(kind); err != nil {
			return nil, err
		}
	}
	result, err := c.transaction.session.ExecContext(context.WithoutCancel(ctx), query, args...)
	if kind == changes && err == nil && !c.wrote { // a statement that fails undoes itself
		rows, err := result.RowsAffected()
		c.wrote = rows > 0 || err != nil
	}
	return result, err
}

func (c *unitConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	kind := kindOf(query)
	if err := c.prepare(kind); err != nil {
		return nil, err
	}
	rows, err := c.transaction.session.QueryContext(context.WithoutCancel(ctx), query, args...)
	if kind != reads && err == nil {
		c.open = append(c.open, rows.Close)
	}
	return rows, err
}

// QueryRowContext cannot return why a statement was refused: unit.take does.
func (c *unitConn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	kind := kindOf(query)
	if c.prepare(kind) != nil {
		// The only way to make a sql.Row with an error is a query that does not run.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	row := c.transaction.session.QueryRowContext(ctx, query, args...)
	if kind != reads {
		c.open = append(c.open, func() error { return row.Scan() }) // which closes it
	}
	return row
}

// closeRows ends the writing statements whose rows the unit has not read to the end. Before, SQLite neither commits nor
// counts what they changed.
func (c *unitConn) closeRows() {
	for _, closer := range c.open {
		_ = closer()
	}
}

// prepare checks whether a statement may run, and reads the count of changes that hasWritten compares with.
func (c *unitConn) prepare(kind kind) (err error) {
	if err := c.check(); err != nil || kind == reads || c.wrote || c.counted && kind != alters {
		return err
	}
	if kind == alters {
		c.wrote = true
		return nil
	}
	if c.changes, err = c.transaction.changes(); err != nil {
		c.refused = errUnwritable.Because(err)
		return c.refused
	}
	c.counted = true
	return nil
}

// hasWritten reports whether the unit has changed anything. SQLite counts the rows that each statement changed, however
// the statement was run, and none of one that failed.
func (c *unitConn) hasWritten() bool {
	if c.wrote || !c.counted || c.transaction.lost {
		return c.wrote
	}
	now, err := c.transaction.changes()
	return err != nil || now != c.changes
}

// check returns why no further statement may run, or nil.
func (c *unitConn) check() error {
	switch {
	case c.over:
		return errOver
	case c.refused != nil:
	case c.transaction.lost:
		c.refused = errLost
	case c.caller.Err() != nil:
		c.refused = c.caller.Err()
	case time.Now().After(c.until):
		c.refused = errSlow
	}
	return c.refused
}

// kind is what an SQL text can do.
type kind int

const (
	reads   kind = iota
	changes      // one statement that changes rows, or none
	several      // several statements that read or change rows
	alters       // anything else, such as the schema, which SQLite does not count as rows
)

// kindOf returns the kind of an SQL text, by its first word.
func kindOf(text string) kind {
	text = strings.TrimLeft(text, " \t\n")
	word, _, _ := strings.Cut(text[:min(len(text), len("REPLACE "))], " ")
	kind := alters
	switch strings.ToUpper(word) {
	case "SELECT":
		kind = reads
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH":
		kind = changes
	}
	if kind != alters && strings.Contains(text, ";") { // which may also be within a literal
		return several
	}
	return kind
}
