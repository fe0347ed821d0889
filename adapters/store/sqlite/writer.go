package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
)

// writer commits units of work in batches, so that one sync of the disk makes many of them durable.
//
// Each unit runs in the goroutine of its caller, on the transaction of the batch, so that a panic affects the caller alone. A
// unit sees what the units before it wrote. So every unit, refused ones too, is answered after the commit: a refusal may be
// due to a row that never becomes durable.
//
// Most units that fail do so before they write, and leave nothing to undo. When one fails later, or SQLite rolls back because
// the disk is full or fails, the batch is rolled back, and each of its units runs again, alone. Savepoints would cost every
// unit a quarter of its time.
type writer struct {
	on    *connection
	locks fileLocks // with other processes that write to the file

	checkpoints bool // the writer makes checkpoints, while other processes write; otherwise commits do

	queue   chan *unit
	closing chan struct{} // closed when no more units are taken
	stopped chan struct{} // closed when every unit is answered
	once    sync.Once

	unwritable atomic.Bool // the file could not be written to: see Engine.Ready

	truncates atomic.Bool // the log is to be emptied: see Engine.Tidy

	committed struct { // both change at once
		mutex          sync.Mutex
		batches, units int64
	}
}

// counts returns how many batches were committed, and how many units in them.
func (w *writer) counts() (batches, units int64) {
	w.committed.mutex.Lock()
	defer w.committed.mutex.Unlock()
	return w.committed.batches, w.committed.units
}

// mostUnits bounds a batch, so that other processes get a turn.
const mostUnits = 64

var (
	errClosed     = fault.New(fault.Unavailable, "The store is closed.")
	errBusy       = fault.New(fault.Unavailable, "The store is busy; try again later.")
	errUnwritable = fault.New(fault.Unavailable, "The store cannot be written to now; try again later.")
	errLost       = fault.New(fault.Unavailable, "The store could not finish the change; nothing of it was kept.")
	errSlow       = fault.New(fault.Unavailable, "The change took too long; nothing of it was kept.")
	errUncertain  = fault.New(fault.Unavailable, "The store could not confirm the change; check whether it was made before you repeat it.")

	errAbandoned = errors.New("the goroutine of the unit ended")
	errOver      = errors.New("the unit of work is over; its Tx must not be used any more")
)

func startWriter(on *connection, t fileLocks, checkpoints bool) *writer {
	w := &writer{
		on:    on,
		locks: t,

		checkpoints: checkpoints,

		queue:   make(chan *unit),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go w.serve()
	return w
}

// close waits until the units that have begun are answered.
func (w *writer) close() error {
	w.once.Do(func() { close(w.closing) })
	<-w.stopped
	// After few batches the log is short: the server, or whoever closes the file last, copies it. A checkpoint syncs the
	// file, and would take longer than the writes.
	if batches, _ := w.counts(); batches > batchesPerCheckpoint {
		w.checkpoint()
	}
	w.on.drop()
	return nil
}

// update runs a unit of work and returns when its outcome is durable.
func (w *writer) update(ctx context.Context, run func(ctx context.Context, conn bun.IConn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	waited := time.NewTimer(waitTimeout)
	defer waited.Stop()
	u := newUnit(ctx, run)
	select {
	case w.queue <- u:
		err := u.wait(waited.C)
		if isUnwritable(err) {
			w.unwritable.Store(true)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-waited.C:
		return errBusy
	case <-w.closing:
		return errClosed
	}
}

func (w *writer) serve() {
	defer close(w.stopped)
	for {
		select {
		case first := <-w.queue:
			w.batch(first)
			if batches, _ := w.counts(); batches%batchesPerCheckpoint == 0 {
				w.checkpoint()
			}
			if w.truncates.CompareAndSwap(true, false) {
				w.truncate()
			}
		case <-w.closing:
			return
		}
	}
}

// batch commits a unit together with all that are waiting.
func (w *writer) batch(first *unit) {
	if first.hasLeft() {
		return
	}
	defer w.locks.take()()
	tx, err := begin(w.on)
	if err != nil {
		first.answer(err)
		return
	}
	var ran []*unit
	for u := first; u != nil; u = w.next(tx, ran) {
		if u.settle() {
			ran = append(ran, u)
			tx.run(u)
		}
	}
	err = w.end(tx, len(ran))
	for _, u := range ran {
		switch {
		case !errors.Is(err, errLost):
			u.answer(err)
		case len(ran) == 1 && u.failure != nil:
			u.answer(nil) // it saw no write that is lost
		default:
			w.alone(u)
		}
	}
}

// batchesPerCheckpoint is after how many batches a command makes a checkpoint. A page that several of them wrote is copied
// once.
const batchesPerCheckpoint = 8

// checkpoint copies committed pages from the log to the file. It runs between commits, so that other processes can write
// meanwhile. If it fails, the next one copies more.
func (w *writer) checkpoint() {
	if w.checkpoints && w.on.conn != nil {
		_, _ = w.on.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	}
}

// truncate copies all of the log into the file and empties it. It waits for readers of what is still to be copied no longer than a
// write may: if they stay, the log does too, until the next time.
func (w *writer) truncate() {
	if w.on.conn == nil {
		return
	}
	ctx := context.Background()
	_, _ = w.on.conn.ExecContext(ctx, "PRAGMA busy_timeout(50)")
	_, _ = w.on.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	_, _ = w.on.conn.ExecContext(ctx, "PRAGMA "+busyTimeout(waitTimeout))
}

// next returns the unit that has waited longest, or nil if none waits or the batch must end.
func (w *writer) next(tx *transaction, ran []*unit) *unit {
	if tx.lost || len(ran) == mostUnits {
		return nil
	}
	select {
	case u := <-w.queue:
		return u
	default:
		return nil
	}
}

// end commits a batch.
func (w *writer) end(tx *transaction, units int) error {
	err := tx.end()
	if err == nil {
		w.committed.mutex.Lock()
		defer w.committed.mutex.Unlock()
		w.committed.batches++
		w.committed.units += int64(units)
	}
	return err
}

// alone runs a unit again whose batch was lost, if its caller is still there.
func (w *writer) alone(u *unit) {
	if errors.Is(u.failure, errAbandoned) {
		return
	}
	if err := u.ctx.Err(); err != nil {
		u.answer(err)
		return
	}
	u.failure = nil
	tx, err := begin(w.on)
	if err == nil {
		tx.run(u)
		err = w.end(tx, 1)
	}
	if errors.Is(err, errLost) && u.failure != nil {
		err = u.failure // is more specific
	}
	u.answer(err)
}
