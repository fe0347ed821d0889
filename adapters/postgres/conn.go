package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// conn compiles a statement that comes with arguments once per connection, and keeps it. One without, in whose text bun
// has written them, would only crowd out the others.
type conn struct{ on bun.IConn }

var _ bun.IConn = conn{}

func (c conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return c.on.ExecContext(ctx, query, kept(args)...)
}

func (c conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return c.on.QueryContext(ctx, query, kept(args)...)
}

func (c conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return c.on.QueryRowContext(ctx, query, kept(args)...)
}

// kept tells pgx, in its way, to keep the statement.
func kept(args []any) []any {
	if len(args) == 0 {
		return nil
	}
	return append([]any{pgx.QueryExecModeCacheStatement}, args...)
}
