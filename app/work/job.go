package work

import (
	"context"
	"errors"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/run"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service does in the background what no request waits for.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

// New returns the jobs.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// mostCompanies bounds for how many companies one run of a job works.
const mostCompanies = 16

// Settle does a portion of what is left to do, for some companies, and reports whether there may be more. A company for which that
// fails holds up no other of these.
func (s *Service) Settle(ctx context.Context) (more bool, err error) {
	pending, err := s.store.Settlements().Pending(ctx, mostCompanies)
	if err != nil {
		return false, err
	}
	var failures []error
	for _, one := range pending {
		takesWork, err := s.settle(ctx, one)
		more, failures = more || takesWork, append(failures, err)
	}
	return more, errors.Join(failures...)
}

// settle does a portion of one settlement, unless another process has done it meanwhile. It reports whether the company is there,
// and is not being deleted: what is left of one that is goes with it.
func (s *Service) settle(ctx context.Context, one store.Settlement) (takesWork bool, err error) {
	err = s.inTurn(ctx, one.Company, one.Actor, func(ctx context.Context, tx store.Tx, u *Unit) error {
		takesWork = true
		left, err := tx.Settlements().Lock(ctx, one.ID)
		exists, err := store.Exists(err)
		if err != nil || !exists {
			return err
		}
		if err := tx.Settlements().Remove(ctx, left.ID); err != nil {
			return err
		}
		return u.Begin(ctx, left)
	})
	return takesWork, err
}

// WakeDue makes issues claimable whose NotBefore has come. A company for which that fails holds up no other of the portion
// that is read.
func (s *Service) WakeDue(ctx context.Context) (more bool, err error) {
	at, err := s.store.StoreNow(ctx)
	if err != nil {
		return false, err
	}
	due, err := s.store.Issues().Due(ctx, at)
	if err != nil {
		return false, err
	}
	of := map[id.Company][]id.Issue{}
	for _, one := range due {
		of[one.Company] = append(of[one.Company], one.ID)
	}
	var failures []error
	for company, issues := range of {
		failures = append(failures, s.wake(ctx, company, issues))
	}
	err = errors.Join(failures...)
	return err == nil && len(due) == store.Portion, err
}

func (s *Service) wake(ctx context.Context, of id.Company, issues []id.Issue) error {
	return s.inTurn(ctx, of, "", func(ctx context.Context, tx store.Tx, _ *Unit) error {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		for _, which := range issues {
			i, err := tx.Issues().Lock(ctx, which)
			if err != nil {
				return err
			}
			if next, isDue := i.Wake(at); isDue {
				if err := tx.Issues().Save(ctx, next); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// prepare saves the state of the sweep, before it ends leases.
func (s *Service) prepare(ctx context.Context, now time.Time, next run.Sweep) error {
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Runs().Shorten(ctx, now); err != nil {
			return err
		}
		return tx.Runs().SaveSweep(ctx, next)
	})
	for left := true; left && err == nil; {
		err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			if err := tx.OnSnapshot(ctx); err != nil {
				return err
			}
			left, err = tx.Runs().Postpone(ctx, now)
			return err
		})
	}
	return err
}

// Sweep ends the leases that have run out. A company for which that fails holds up no other of the portion
// that is read.
func (s *Service) Sweep(ctx context.Context) (more bool, err error) {
	var now time.Time
	var next run.Sweep
	var isNew, mayEnd bool
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if now, err = r.StoreNow(ctx); err != nil {
			return err
		}
		next, isNew, mayEnd, err = NextSweep(ctx, r.Runs(), now)
		return err
	})
	if err != nil {
		return false, err
	}
	if isNew {
		if err := s.prepare(ctx, now, next); err != nil {
			return false, err
		}
	}
	if !mayEnd {
		return false, nil
	}
	overdue, err := s.store.Runs().Overdue(ctx, now)
	if err != nil {
		return false, err
	}
	of := map[id.Company][]id.Run{}
	for _, one := range overdue {
		of[one.Company] = append(of[one.Company], one.ID)
	}
	ended := 0
	var failures []error
	for company, runs := range of {
		count, err := s.expire(ctx, company, runs)
		ended, failures = ended+count, append(failures, err)
	}
	return ended > 0 && len(overdue) == store.Portion, errors.Join(failures...)
}

// sweeper is who ends the leases that have run out.
const sweeper event.Actor = "system:sweep"

// expire ends those of some leases that have still run out, and returns how many. A lease of an epoch that has ended is left to
// Settle, which counts no attempt.
func (s *Service) expire(ctx context.Context, of id.Company, runs []id.Run) (ended int, err error) {
	err = s.inTurn(ctx, of, sweeper, func(ctx context.Context, tx store.Tx, u *Unit) error {
		ended = 0
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		c, err := tx.Companies().Get(ctx, of)
		if err != nil {
			return err
		}
		for _, which := range runs {
			r, err := tx.Runs().Lock(ctx, which)
			if err != nil {
				return err
			}
			if !r.IsOpen() || r.Lease.Epoch != c.LeaseEpoch || !r.IsOverdue(at, time.Time{}) {
				continue
			}
			i, err := tx.Issues().Lock(ctx, r.Issue)
			if err != nil {
				return err
			}
			next, happened, err := i.ExpireLease(at)
			if err != nil {
				return err
			}
			if err := u.Move(ctx, i, next, happened, run.RanOut); err != nil {
				return err
			}
			ended++
		}
		return nil
	})
	return ended, err
}

// inTurn runs a unit of work in the turn of a company, unless that is gone or being deleted. Its steps need no event of their own.
func (s *Service) inTurn(
	ctx context.Context, of id.Company, actor event.Actor, write func(ctx context.Context, tx store.Tx, u *Unit) error,
) error {
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, of); err != nil {
			return err
		}
		c, err := tx.Companies().Get(ctx, of)
		exists, err := store.Exists(err)
		if err != nil || !exists || c.Status == company.Deleting {
			return err
		}
		tx.Unrecorded()
		return write(ctx, tx, In(tx, s.ids, of, actor))
	})
}
