package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"modernc.org/sqlite"
)

// transaction is the writer's transaction, which one unit after the other works in. It is lost when SQLite has rolled
// it back, or when its savepoints can no longer be trusted; then it must not be committed.
type transaction struct {
	conn *sql.Conn
	over bool // SQLite has rolled it back
	lost bool
}

// hooked is the driver's connection.
type hooked interface {
	RegisterRollbackHook(hook sqlite.RollbackHookFn)
}

func begin(pool *sql.DB) (*transaction, error) {
	ctx := context.Background()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errUnwritable.Because(err)
	}
	t := &transaction{conn: conn}
	err = conn.Raw(func(connection any) error {
		connection.(hooked).RegisterRollbackHook(func() { t.over, t.lost = true, true })
		return nil
	})
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	}
	if err != nil {
		return nil, errUnwritable.Because(errors.Join(err, conn.Close()))
	}
	return t, nil
}

// run lets a unit work, and undoes what it did when it fails.
func (t *transaction) run(u *unit) {
	if !t.do("SAVEPOINT unit") {
		return
	}
	u.lend(&loan{transaction: t, caller: u.ctx, until: time.Now().Add(patience)})
	if u.failure != nil {
		t.do("ROLLBACK TO unit")
	}
	t.do("RELEASE unit")
}

// do runs a statement on which everything after it rests.
func (t *transaction) do(statement string) bool {
	if !t.lost {
		_, err := t.conn.ExecContext(context.Background(), statement)
		t.lost = t.lost || err != nil
	}
	return !t.lost
}

// end commits the transaction. It fails with errLost when there is nothing left to commit.
func (t *transaction) end() error {
	defer func() { _ = t.conn.Close() }() // gives it back to its pool
	if t.lost {
		t.rollBack()
		return errLost
	}
	if _, err := t.conn.ExecContext(context.Background(), "COMMIT"); err != nil {
		t.rollBack()
		return errUncertain.Because(err)
	}
	return nil
}

// rollBack leaves a connection without a transaction, or none.
func (t *transaction) rollBack() {
	_, err := t.conn.ExecContext(context.Background(), "ROLLBACK")
	if err != nil && !t.over {
		_ = t.conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it
	}
}
