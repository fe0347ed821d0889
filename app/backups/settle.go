package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"holdco/app/work"
	"holdco/domain/backup"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/run"
	"holdco/ports/store"
)

// settling is what a restored store needs before anything works on it: what its leases, its webhooks and its clients were about to do may
// have been done since. If it is cut short, it is done again.
type settling struct {
	*Service

	on store.Store
	of backup.Unsettled

	// isMarked is whether the store itself says that it has to be done. Then another process may do the same, and let servers work on the
	// store before this one has finished; what each counts is what it has done.
	isMarked bool
}

// errSettled ends the settling of a store that another process has settled meanwhile.
var errSettled = errors.New("the store has been settled")

// update runs a unit of work, after begin, unless the store has been settled. A unit that began before that sees nothing that came after.
func (s settling) update(ctx context.Context, begin, write func(ctx context.Context, tx store.Tx) error) error {
	return s.on.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := begin(ctx, tx); err != nil {
			return err
		}
		if s.isMarked {
			if _, isThere, err := tx.Backups().Unsettled(ctx); err != nil || !isThere {
				return cmp.Or(err, errSettled)
			}
		}
		return write(ctx, tx)
	})
}

// plain begins a unit as any other.
func plain(context.Context, store.Tx) error { return nil }

// unrecorded begins a unit whose event is recorded when all is done.
func unrecorded(_ context.Context, tx store.Tx) error {
	tx.Unrecorded()
	return nil
}

func (s settling) run(ctx context.Context) (after backup.Aftermath, err error) {
	err = s.update(ctx, unrecorded, func(ctx context.Context, tx store.Tx) (err error) {
		if _, err := tx.Activity().Reorder(ctx); err != nil {
			return err
		}
		if after.Webhooks, err = tx.Outbox().Hold(ctx); err != nil {
			return err
		}
		return tx.Leads().Restored(ctx)
	})
	if err != nil {
		return after, err
	}
	if after.Leases, err = s.endLeases(ctx); err != nil {
		return after, err
	}
	if err := s.dropReceipts(ctx); err != nil {
		return after, err
	}
	return after, s.update(ctx, plain, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Backups().Settle(ctx); err != nil {
			return err
		}
		return tx.Record(ctx, s.of.Of.Event(after).By(s.of.Actor))
	})
}

// forever is after the end of every lease, and after every receipt.
var forever = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// endLeases ends all leases, and returns how many. Those that ended with an epoch of their company, or that end with it, are left to
// those who see to these.
func (s settling) endLeases(ctx context.Context) (ended int, err error) {
	for {
		open, err := s.on.Runs().Overdue(ctx, forever)
		if err != nil || len(open) == 0 {
			return ended, err
		}
		of := map[id.Company][]store.OpenRun{}
		for _, one := range open {
			of[one.Company] = append(of[one.Company], one)
		}
		for which, runs := range of {
			some, err := s.endIn(ctx, which, runs)
			if err != nil {
				return ended, err
			}
			ended += some
		}
	}
}

// endIn ends leases of a company, but for those that another process has ended meanwhile.
func (s settling) endIn(ctx context.Context, of id.Company, runs []store.OpenRun) (ended int, err error) {
	turn := func(ctx context.Context, tx store.Tx) error { return tx.Turn(ctx, of) }
	err = s.update(ctx, turn, func(ctx context.Context, tx store.Tx) error {
		ended = 0
		c, err := tx.Companies().Get(ctx, of)
		if err != nil || c.Status == company.Deleting {
			return err
		}
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		unit := work.In(tx, s.IDs, of, s.of.Actor)
		for _, one := range runs {
			open, err := tx.Runs().OpenOf(ctx, one.Issue)
			if fault.CodeOf(err) == fault.NotFound || err == nil && open.ID != one.ID {
				continue
			}
			if err != nil {
				return err
			}
			if err := s.endOne(ctx, tx, unit, open, at); err != nil {
				return fmt.Errorf("end the run %s of the issue %s: %w", one.ID, one.Issue, err)
			}
			ended++
		}
		return nil
	})
	return ended, err
}

// endOne ends a lease of an issue, which goes back into the queue. A lease whose issue is not there, in a store that was damaged before, is
// ended by itself: nothing could ever work on it, and it would keep the store from being used at all.
func (s settling) endOne(ctx context.Context, tx store.Tx, unit *work.Unit, open run.Run, at time.Time) error {
	i, err := tx.Issues().Lock(ctx, open.Issue)
	if fault.CodeOf(err) == fault.NotFound {
		tx.Unrecorded()
		locked, err := tx.Runs().Lock(ctx, open.ID)
		if err != nil {
			return err
		}
		return unit.EndAlone(ctx, locked, run.Restored, at)
	}
	if err != nil {
		return err
	}
	next, happened, err := i.Revoke(string(run.Restored), at)
	if err != nil {
		return err
	}
	return unit.Move(ctx, i, next, happened, run.Restored)
}

// portion bounds how many receipts are dropped in a unit.
const portion = 1000

func (s settling) dropReceipts(ctx context.Context) error {
	for {
		var some int
		err := s.update(ctx, plain, func(ctx context.Context, tx store.Tx) (err error) {
			some, err = tx.Receipts().Purge(ctx, forever, portion)
			return err
		})
		if err != nil || some == 0 {
			return err
		}
	}
}
