package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// conn runs a statement with arguments as a prepared statement, which pgx caches per connection. A statement without
// arguments, into whose text bun has written them, would only fill the cache: conn sends it with the simple protocol.
type conn struct{ on bun.IConn }

var _ bun.IConn = conn{}

func (c conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return c.on.ExecContext(ctx, query, sent(args)...)
}

func (c conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return c.on.QueryContext(ctx, query, sent(args)...)
}

func (c conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return c.on.QueryRowContext(ctx, query, sent(args)...)
}

// sent adds the option by which pgx knows how to send a statement.
func sent(args []any) []any {
	if len(args) == 0 {
		return []any{pgx.QueryExecModeSimpleProtocol}
	}
	return args
}
