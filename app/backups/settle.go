package backups

import (
	"context"
	"time"

	"holdco/app/work"
	"holdco/domain/backup"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/run"
	"holdco/ports/store"
)

// settle does what a restored store needs before anything works on it: what its leases, its webhooks and its clients were about to do may
// have been done since. If it is cut short, it is done again.
func (s *Service) settle(ctx context.Context, on store.Store, r backup.Unsettled) (after backup.Aftermath, err error) {
	err = on.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		tx.Unrecorded() // the event of the restoration is recorded when all is done
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
	if after.Leases, err = s.endLeases(ctx, on, r.Actor); err != nil {
		return after, err
	}
	if err := dropReceipts(ctx, on); err != nil {
		return after, err
	}
	return after, on.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Backups().Settle(ctx); err != nil {
			return err
		}
		return tx.Record(ctx, r.Of.Event(after).By(r.Actor))
	})
}

// forever is after the end of every lease, and after every receipt.
var forever = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// endLeases ends all leases, and returns how many. Those that ended with an epoch of their company, or that end with it, are left to
// those who see to these.
func (s *Service) endLeases(ctx context.Context, on store.Store, actor event.Actor) (ended int, err error) {
	for {
		open, err := on.Runs().Overdue(ctx, forever)
		if err != nil || len(open) == 0 {
			return ended, err
		}
		of := map[id.Company][]store.OpenRun{}
		for _, one := range open {
			of[one.Company] = append(of[one.Company], one)
		}
		for which, runs := range of {
			if err := s.endIn(ctx, on, which, runs, actor); err != nil {
				return ended, err
			}
		}
		ended += len(open)
	}
}

func (s *Service) endIn(ctx context.Context, on store.Store, of id.Company, runs []store.OpenRun, actor event.Actor) error {
	return on.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, of); err != nil {
			return err
		}
		c, err := tx.Companies().Get(ctx, of)
		if err != nil || c.Status == company.Deleting {
			return err
		}
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		unit := work.In(tx, s.IDs, of, actor)
		for _, one := range runs {
			i, err := tx.Issues().Lock(ctx, one.Issue)
			if err != nil {
				return err
			}
			next, happened, err := i.Revoke(string(run.Restored), at)
			if err != nil {
				return err
			}
			if err := unit.Move(ctx, i, next, happened, run.Restored); err != nil {
				return err
			}
		}
		return nil
	})
}

// portion bounds how many receipts are dropped in a unit.
const portion = 1000

func dropReceipts(ctx context.Context, on store.Store) error {
	for {
		var some int
		err := on.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			some, err = tx.Receipts().Purge(ctx, forever, portion)
			return err
		})
		if err != nil || some == 0 {
			return err
		}
	}
}
