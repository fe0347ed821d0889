package sqlite

import (
	"context"
	"database/sql"
	"sync"

	"github.com/uptrace/bun"
)

// compiled keeps statements that were compiled once: for SQLite that costs more than to run them.
type compiled struct {
	on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	mutex      sync.RWMutex
	statements map[string]*sql.Stmt // by their texts
}

func (c *compiled) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	c.mutex.RLock()
	statement := c.statements[text]
	c.mutex.RUnlock()
	if statement != nil {
		return statement, nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if statement := c.statements[text]; statement != nil {
		return statement, nil
	}
	statement, err := c.on.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, err
	}
	if c.statements == nil {
		c.statements = map[string]*sql.Stmt{}
	}
	c.statements[text] = statement
	return statement, nil
}

// reader runs single reads on the pool of readers.
type reader struct {
	pool     *sql.DB
	compiled *compiled
}

var _ bun.IConn = reader{}

func (r reader) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return r.pool.ExecContext(ctx, query, args...)
}

func (r reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if len(args) == 0 {
		return r.pool.QueryContext(ctx, query)
	}
	statement, err := r.compiled.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (r reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if len(args) > 0 {
		if statement, err := r.compiled.statement(ctx, query); err == nil {
			return statement.QueryRowContext(ctx, args...)
		}
	}
	return r.pool.QueryRowContext(ctx, query, args...)
}

// snapshot runs reads in one transaction on the pool of readers.
type snapshot struct {
	tx       *sql.Tx
	compiled *compiled
}

var _ bun.IConn = snapshot{}

func (s snapshot) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return s.tx.ExecContext(ctx, query, args...)
}

func (s snapshot) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if len(args) == 0 {
		return s.tx.QueryContext(ctx, query)
	}
	statement, err := s.compiled.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.tx.StmtContext(ctx, statement).QueryContext(ctx, args...)
}

func (s snapshot) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if len(args) > 0 {
		if statement, err := s.compiled.statement(ctx, query); err == nil {
			return s.tx.StmtContext(ctx, statement).QueryRowContext(ctx, args...)
		}
	}
	return s.tx.QueryRowContext(ctx, query, args...)
}
