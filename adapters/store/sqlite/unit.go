package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
)

// unit is a unit of work on its way through the writer. Its caller waits in wait; all else is the writer's.
type unit struct {
	ctx     context.Context
	work    func(ctx context.Context, conn bun.IConn) error
	settled atomic.Bool // whether it runs: said once, by the writer who begins it or by the caller who leaves
	turns   chan *loan  // the transaction, each time that it is lent; closed when outcome is there
	ended   chan error  // how a turn ended
	failure error       // how the last turn ended
	outcome error
}

func newUnit(ctx context.Context, work func(ctx context.Context, conn bun.IConn) error) *unit {
	return &unit{ctx: ctx, work: work, turns: make(chan *loan), ended: make(chan error)}
}

// wait lets the caller work whenever it is the unit's turn, and returns the outcome. The caller may leave for as long
// as the unit has not begun: when its context ends, or when it has waited for too long.
func (u *unit) wait(tooLong <-chan time.Time) error {
	var reason error
	select {
	case lent, more := <-u.turns:
		if more {
			u.take(lent)
		}
	case <-u.ctx.Done():
		reason = u.ctx.Err()
	case <-tooLong:
		reason = errBusy
	}
	if reason != nil && u.settle() {
		return reason
	}
	for lent := range u.turns {
		u.take(lent)
	}
	return u.outcome
}

// take works with the lent transaction and gives it back, however the work ends.
func (u *unit) take(lent *loan) {
	failure := errAbandoned
	defer func() {
		lent.over = true
		u.ended <- failure
	}()
	failure = u.work(u.ctx, lent)
	if lent.refused != nil { // work may have seen a consequence only, such as a row that was not read
		failure = lent.refused
	}
}

// lend gives the transaction to the caller and waits for its return.
func (u *unit) lend(lent *loan) {
	u.turns <- lent
	u.failure = <-u.ended
}

// answer lets the caller go: with how its unit ended, or with why the batch failed.
func (u *unit) answer(batch error) {
	u.outcome = u.failure
	if batch != nil {
		u.outcome = batch
	}
	close(u.turns)
}

// settle reports whether nobody has settled yet what becomes of the unit.
func (u *unit) settle() bool { return u.settled.CompareAndSwap(false, true) }

func (u *unit) hasLeft() bool { return u.settled.Load() }
