package sqlite

import (
	"context"
	"database/sql"
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
	wrote       bool  // a statement was run that may have changed something
	refused     error // why the unit may not go on: it cannot succeed any more
}

var _ bun.IConn = (*loan)(nil)

func (l *loan) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	result, err := l.transaction.session.ExecContext(context.WithoutCancel(ctx), query, args...)
	l.wrote = l.wrote || err == nil // a statement that fails undoes itself
	return result, err
}

func (l *loan) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.transaction.session.QueryContext(context.WithoutCancel(ctx), query, args...)
}

func (l *loan) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	if l.check() != nil {
		// A row cannot be made with an error in it, other than by a query that is not run.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	return l.transaction.session.QueryRowContext(ctx, query, args...)
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
