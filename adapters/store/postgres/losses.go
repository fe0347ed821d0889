package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// losses notes when a connection of the pool was found broken, though the server could be reached when it was taken: an operator
// ended it, or the server was restarted. Others were likely lost with it, so that each is pinged once before it is used again.
type losses struct{ last atomic.Int64 } // Unix time in ns; 0: none was lost

// isLoss reports whether err is the loss of a connection, and notes it. The transaction on it was rolled back, unless COMMIT was
// sent.
func (l *losses) isLoss(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || !isLost(err) {
		return false
	}
	l.last.Store(time.Now().UnixNano())
	return true
}

func isLost(err error) bool {
	var unreached *pgconn.ConnectError
	var answer *pgconn.PgError
	var broken net.Error
	switch {
	case errors.As(err, &unreached):
		return false
	case errors.As(err, &answer):
		return answer.Code == "57P01" || answer.Code == "57P02" // admin_shutdown, crash_shutdown: of the server, or of one session
	case errors.As(err, &broken):
		return !broken.Timeout()
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err)
}

// mustPing reports whether a connection has to be pinged before it is used: after a second without use, which may have been one in
// which it was lost, and if it was not used since another was lost.
func (l *losses) mustPing(_ context.Context, unused stdlib.ShouldPingParams) bool {
	return unused.IdleDuration > min(time.Second, time.Since(time.Unix(0, l.last.Load())))
}

// retrying runs single reads, and retries once one whose connection was lost.
type retrying struct {
	conn
	lastLoss *losses
}

func (r retrying) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := r.conn.QueryContext(ctx, query, args...)
	if r.lastLoss.isLoss(ctx, err) {
		return r.conn.QueryContext(ctx, query, args...)
	}
	return rows, err
}

func (r retrying) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row := r.conn.QueryRowContext(ctx, query, args...)
	if r.lastLoss.isLoss(ctx, row.Err()) {
		return r.conn.QueryRowContext(ctx, query, args...)
	}
	return row
}

var _ bun.IConn = retrying{}
