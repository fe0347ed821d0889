package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/ports/outbound"
)

// Joint is an engine on another one, which runs several units of work, and the reads between them, as one: whoever writes down what
// was long ago must not let others see a lease that ran out then. It is for one goroutine at a time, and for who makes no mistakes: when
// one of the units fails, none of them is committed.
type Joint struct {
	Engine

	on     bun.IConn // of the unit that all run in; nil: each is one of its own
	failed error     // of a unit in it
}

// NewJoint makes an engine on another one. Store.StoreNow on it has the clock of the process.
func NewJoint(on Engine) *Joint { return &Joint{Engine: on} }

// Unit runs what is done in it, on a store on this engine, as one unit of work with the turn of a company. Like a unit, it may run more
// than once.
func (j *Joint) Unit(ctx context.Context, of id.Company, do func(ctx context.Context) error) error {
	err := j.Engine.Update(ctx, func(ctx context.Context, conn bun.IConn) error {
		if err := j.Engine.Turn(ctx, conn, string(of)); err != nil {
			return err
		}
		j.on, j.failed = conn, nil
		defer func() { j.on = nil }()
		return errors.Join(do(ctx), j.failed)
	})
	return FailureOf(ctx, j.Engine, err)
}

// Update implements Engine.
func (j *Joint) Update(ctx context.Context, unit func(ctx context.Context, conn bun.IConn) error) error {
	if j.on == nil {
		return j.Engine.Update(ctx, unit)
	}
	err := unit(ctx, j.on)
	if err != nil {
		j.failed = err
	}
	return err
}

// View implements Engine.
func (j *Joint) View(ctx context.Context, read func(ctx context.Context, conn bun.IConn) error) error {
	if j.on == nil {
		return j.Engine.View(ctx, read)
	}
	return read(ctx, j.on)
}

// Turn implements Engine. A unit in another one has its turn.
func (j *Joint) Turn(ctx context.Context, conn bun.IConn, of string) error {
	if j.on != nil {
		return nil
	}
	return j.Engine.Turn(ctx, conn, of)
}

// OnSnapshot implements Engine.
func (j *Joint) OnSnapshot(conn bun.IConn) {
	if j.on == nil {
		j.Engine.OnSnapshot(conn)
	}
}

// Now implements Engine.
func (j *Joint) Now(_ context.Context, _ bun.IConn, process outbound.Clock) (time.Time, error) {
	return process.Now(), nil
}

// NowNext implements Engine. There is nothing to ask for.
func (j *Joint) NowNext(bun.IConn) {}

// between is the connection of the reads between units.
type between struct{ of *Joint }

// Conn implements Engine.
func (j *Joint) Conn() bun.IConn { return between{j} }

// behind is the connection that the other engine knows.
func (j *Joint) behind(conn bun.IConn) bun.IConn {
	if _, ok := conn.(between); !ok {
		return conn
	}
	if j.on != nil {
		return j.on
	}
	return j.Engine.Conn()
}

// QueryContext implements bun.IConn.
func (b between) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return b.of.behind(b).QueryContext(ctx, query, args...)
}

// ExecContext implements bun.IConn.
func (b between) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return b.of.behind(b).ExecContext(ctx, query, args...)
}

// QueryRowContext implements bun.IConn.
func (b between) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return b.of.behind(b).QueryRowContext(ctx, query, args...)
}

// Lookup implements Engine.
func (j *Joint) Lookup(ctx context.Context, conn bun.IConn) (context.Context, context.CancelFunc, error) {
	return j.Engine.Lookup(ctx, j.behind(conn))
}

// ScanRow implements Engine.
func (j *Joint) ScanRow(ctx context.Context, conn bun.IConn, columns []any, text string, args ...any) error {
	return j.Engine.ScanRow(ctx, j.behind(conn), columns, text, args...)
}

// ScanRows implements Engine.
func (j *Joint) ScanRows(ctx context.Context, conn bun.IConn, columns []any, take func() error, text string, args ...any) error {
	return j.Engine.ScanRows(ctx, j.behind(conn), columns, take, text, args...)
}
