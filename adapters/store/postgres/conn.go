package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// conn compiles a statement that comes with arguments once per connection, and keeps it, as pgx does with all. One
// without, in whose text bun has written them, would only crowd out the others: it is sent as it is.
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

// sent tells pgx, in its way, how to send a statement.
func sent(args []any) []any {
	if len(args) == 0 {
		return []any{pgx.QueryExecModeSimpleProtocol}
	}
	return args
}
