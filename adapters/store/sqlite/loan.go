package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// loan is the writer's transaction in the hands of one unit, for one turn. Between statements it looks at whether the
// unit may go on; a statement that has begun is never interrupted, for that would cost all units of the batch.
type loan struct {
	transaction *transaction
	caller      context.Context
	until       time.Time
	over        bool
	wrote       bool           // a statement has changed something, see hasWritten
	counted     bool           // changes is set
	changes     int64          // what the connection counted before statements that do not say themselves what they changed
	open        []func() error // the rows of statements that write
	refused     error          // why the unit may not continue: it cannot succeed any more
}

var _ bun.IConn = (*loan)(nil)

func (l *loan) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	kind := kindOf(query)
	if kind != changes {
		if err := l.prepare(kind); err != nil {
			return nil, err
		}
	}
	result, err := l.transaction.session.ExecContext(context.WithoutCancel(ctx), query, args...)
	if kind == changes && err == nil && !l.wrote { // a statement that fails undoes itself
		rows, err := result.RowsAffected()
		l.wrote = rows > 0 || err != nil
	}
	return result, err
}

func (l *loan) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	kind := kindOf(query)
	if err := l.prepare(kind); err != nil {
		return nil, err
	}
	rows, err := l.transaction.session.QueryContext(context.WithoutCancel(ctx), query, args...)
	if kind != reads && err == nil {
		l.open = append(l.open, rows.Close)
	}
	return rows, err
}

// QueryRowContext cannot return why a statement is refused: unit.take does.
func (l *loan) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	kind := kindOf(query)
	if l.prepare(kind) != nil {
		// A row cannot be made with an error in it, other than by a query that is not run.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	row := l.transaction.session.QueryRowContext(ctx, query, args...)
	if kind != reads {
		l.open = append(l.open, func() error { return row.Scan() }) // which closes it
	}
	return row
}

// closeRows ends the statements that write whose rows the unit did not read to their end: SQLite commits nothing before,
// and has not counted what they changed.
func (l *loan) closeRows() {
	for _, closer := range l.open {
		_ = closer()
	}
}

// prepare checks whether a statement may run, and takes the count that hasWritten compares with.
func (l *loan) prepare(kind kind) (err error) {
	if err := l.check(); err != nil || kind == reads || l.wrote || l.counted && kind != alters {
		return err
	}
	if kind == alters {
		l.wrote = true
		return nil
	}
	if l.changes, err = l.transaction.changes(); err != nil {
		l.refused = errUnwritable.Because(err)
		return l.refused
	}
	l.counted = true
	return nil
}

// hasWritten reports whether the unit has changed anything. SQLite counts the rows that each statement changed, however
// the statement was run, and none of one that failed.
func (l *loan) hasWritten() bool {
	if l.wrote || !l.counted || l.transaction.lost {
		return l.wrote
	}
	now, err := l.transaction.changes()
	return err != nil || now != l.changes
}

// check refuses every further statement once one was refused.
func (l *loan) check() error {
	switch {
	case l.over:
		return errOver
	case l.refused != nil:
	case l.transaction.lost:
		l.refused = errLost
	case l.caller.Err() != nil:
		l.refused = l.caller.Err()
	case time.Now().After(l.until):
		l.refused = errSlow
	}
	return l.refused
}

// kind is what a text of SQL can do.
type kind int

const (
	reads   kind = iota
	changes      // one statement that changes rows, or none
	several      // several statements that read or change rows
	alters       // anything else, such as the schema, which SQLite does not count as rows
)

// kindOf tells the kind of a text by its first word.
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
