package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
)

// unit is a unit of work on its way through the writer. Its caller calls wait and take; the writer calls all other methods.
type unit struct {
	ctx     context.Context
	work    func(ctx context.Context, conn bun.IConn) error
	settled atomic.Bool    // it is decided whether it runs: by the writer who begins it, or by the caller who leaves
	conns   chan *unitConn // a connection for each run; closed when outcome is set
	ended   chan error     // how a run ended
	failure error          // how the last run ended
	outcome error
}

func newUnit(ctx context.Context, work func(ctx context.Context, conn bun.IConn) error) *unit {
	return &unit{ctx: ctx, work: work, conns: make(chan *unitConn), ended: make(chan error)}
}

// wait runs the work each time that the writer has a connection for it, and returns the outcome. While the unit has not
// begun, the caller may leave: when its context ends, or at tooLong.
func (u *unit) wait(tooLong <-chan time.Time) error {
	var reason error
	select {
	case conn, more := <-u.conns:
		if more {
			u.take(conn)
		}
	case <-u.ctx.Done():
		reason = u.ctx.Err()
	case <-tooLong:
		reason = errBusy
	}
	if reason != nil && u.settle() {
		return reason
	}
	for conn := range u.conns {
		u.take(conn)
	}
	return u.outcome
}

// take runs the work on a connection and then returns the connection to the writer, even if the work panics.
func (u *unit) take(conn *unitConn) {
	failure := errAbandoned
	defer func() {
		conn.over = true
		u.ended <- failure
	}()
	failure = u.work(u.ctx, conn)
	if conn.refused != nil { // the error of work may be a mere consequence, such as sql.ErrNoRows
		failure = conn.refused
	}
}

// runOn lets the caller run the work on a connection, and waits until it has ended.
func (u *unit) runOn(conn *unitConn) {
	u.conns <- conn
	u.failure = <-u.ended
}

// answer ends wait, with how the unit ended, or with why the batch failed.
func (u *unit) answer(batch error) {
	u.outcome = u.failure
	if batch != nil {
		u.outcome = batch
	}
	close(u.conns)
}

// settle reports whether this call decides whether the unit runs: the first call does.
func (u *unit) settle() bool { return u.settled.CompareAndSwap(false, true) }

func (u *unit) hasLeft() bool { return u.settled.Load() }
