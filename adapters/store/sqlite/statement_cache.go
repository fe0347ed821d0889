package sqlite

import (
	"context"
	"database/sql"
	"sync"

	"github.com/uptrace/bun"
)

// statementCache keeps prepared statements: to prepare one costs SQLite more than to run it. They end with the connection or
// the pool on which they were prepared.
type statementCache struct {
	on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	mutex      sync.RWMutex
	statements map[string]*sql.Stmt // by their SQL
}

// statement returns a statement, and prepares it if it is not cached.
func (c *statementCache) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement := c.cached(text); statement != nil {
		return statement, nil
	}
	if err := c.prepare(ctx, text); err != nil {
		return nil, err
	}
	return c.cached(text), nil
}

// cached returns a cached statement, or nil.
func (c *statementCache) cached(text string) *sql.Stmt {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	return c.statements[text]
}

// prepare prepares a statement and caches it. It does not hold the lock meanwhile: on a pool it waits for a connection, and
// those who have one may wait for the lock.
func (c *statementCache) prepare(ctx context.Context, text string) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), waitTimeout) // to get a connection
	defer cancel()
	statement, err := c.on.PrepareContext(limited, text)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.statements[text] != nil { // another goroutine was faster
		return statement.Close()
	}
	if c.statements == nil {
		c.statements = map[string]*sql.Stmt{}
	}
	c.statements[text] = statement
	return nil
}

// close closes the statements. Package sql closes those of a pool, but not those of a single connection, which would stay
// open.
func (c *statementCache) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, statement := range c.statements {
		_ = statement.Close()
	}
	c.statements = nil
}

// session runs statements with arguments as cached prepared statements, and others directly.
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
