package sqlite

import (
	"context"
	"database/sql"
	"sync"

	"github.com/uptrace/bun"
)

// compiled keeps statements that were compiled once: for SQLite that costs more than to run them. They end with what
// they were compiled on.
type compiled struct {
	on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	mutex      sync.RWMutex
	statements map[string]*sql.Stmt // by their texts
}

// statement returns a statement, which it compiles when it is new.
func (c *compiled) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement := c.known(text); statement != nil {
		return statement, nil
	}
	if err := c.compile(ctx, text); err != nil {
		return nil, err
	}
	return c.known(text), nil
}

// known returns a statement that was compiled before, or nil.
func (c *compiled) known(text string) *sql.Stmt {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	return c.statements[text]
}

// compile makes a statement known. Nothing is locked meanwhile: to compile on a pool is to wait for a connection, while
// those who have one may be waiting for the lock.
func (c *compiled) compile(ctx context.Context, text string) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // for the wait for a connection
	defer cancel()
	statement, err := c.on.PrepareContext(limited, text)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.statements[text] != nil { // another was faster
		return statement.Close()
	}
	if c.statements == nil {
		c.statements = map[string]*sql.Stmt{}
	}
	c.statements[text] = statement
	return nil
}

// close closes the statements. Package sql does so for those of a pool, but not for those of a single connection: these
// would keep the connection open after it was closed.
func (c *compiled) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, statement := range c.statements {
		_ = statement.Close()
	}
	c.statements = nil
}

// session runs a statement that comes with arguments compiled, and one without as it is.
type session struct {
	conn      bun.IConn
	statement func(ctx context.Context, text string) (*sql.Stmt, error)
}

var _ bun.IConn = session{}

func (s session) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if len(args) == 0 {
		return s.conn.ExecContext(ctx, query)
	}
	statement, err := s.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

func (s session) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if len(args) == 0 {
		return s.conn.QueryContext(ctx, query)
	}
	statement, err := s.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (s session) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if len(args) > 0 {
		if statement, err := s.statement(ctx, query); err == nil {
			return statement.QueryRowContext(ctx, args...)
		}
	}
	return s.conn.QueryRowContext(ctx, query, args...)
}
