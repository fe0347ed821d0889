package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"modernc.org/sqlite"
)

// connection is the connection of the writer. The writer keeps it, with the statements prepared on it, until it fails.
type connection struct {
	pool        *sql.DB       // of one connection
	unitTimeout time.Duration // for one run of a unit
	isShared    bool          // with processes that can move the store

	conn       *sql.Conn
	statements *statementCache
}

// open takes the connection of the pool, unless it is open.
func (c *connection) open() error {
	if c.conn != nil {
		return nil
	}
	conn, err := c.pool.Conn(context.Background())
	if err == nil {
		c.conn, c.statements = conn, &statementCache{on: conn}
	}
	return err
}

// drop closes the connection; the next transaction gets a new one.
func (c *connection) drop() {
	if c.conn != nil {
		c.statements.close()
		_ = c.conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it for good
		c.conn = nil
	}
}

// transaction is the writer's transaction, in which the units of a batch run one after the other. It is lost when SQLite has
// rolled it back, or when a unit has failed that wrote; then it must not be committed.
type transaction struct {
	*connection
	session session // on the connection, for the units
	over    bool    // SQLite has rolled it back
	lost    bool
}

// hooked is the driver's connection.
type hooked interface {
	RegisterRollbackHook(hook sqlite.RollbackHookFn)
}

func begin(on *connection) (*transaction, error) {
	if err := on.open(); err != nil {
		return nil, errUnwritable.Because(err)
	}
	t := &transaction{connection: on, session: session{on.conn, on.statements.statement}}
	err := t.conn.Raw(func(connection any) error {
		connection.(hooked).RegisterRollbackHook(func() { t.over, t.lost = true, true })
		return nil
	})
	if err == nil {
		_, err = t.conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.drop()
		return nil, errUnwritable.Because(err)
	}
	if t.isShared {
		if err := refuseMarked(context.Background(), t.conn); err != nil {
			t.rollBack()
			return nil, errMarked.Because(err)
		}
	}
	return t, nil
}

// run runs a unit. What a failed unit wrote cannot be separated from what others wrote, so the whole batch is lost.
func (t *transaction) run(u *unit) {
	conn := &unitConn{transaction: t, caller: u.ctx, until: time.Now().Add(t.unitTimeout)}
	u.runOn(conn)
	conn.closeRows()
	t.lost = t.lost || u.failure != nil && conn.hasWritten()
}

// changes is how many rows were inserted, updated or deleted on this connection by statements that have ended.
func (t *transaction) changes() (count int64, err error) {
	err = t.session.QueryRowContext(context.Background(), "SELECT total_changes() + ?", 0).Scan(&count)
	return count, err
}

// end commits the transaction. It fails with errLost when there is nothing left to commit.
func (t *transaction) end() error {
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

// rollBack rolls back, or drops the connection if that fails.
func (t *transaction) rollBack() {
	_, err := t.conn.ExecContext(context.Background(), "ROLLBACK")
	if err != nil && !t.over {
		t.drop()
	}
}
