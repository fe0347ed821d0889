package leases

import (
	"cmp"
	"context"
	"slices"
	"time"

	"holdco/app/work"
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// locked is a lease that a unit of work has locked.
type locked struct {
	store.LockedLease

	tx   store.Tx
	unit *work.Unit
	at   time.Time
}

// lockLive locks the lease of a call and checks that it is live.
func (s *Service) lockLive(ctx context.Context, tx store.Tx, caller agent.Caller, call inbound.LeaseCall) (l locked, err error) {
	if l, err = s.lock(ctx, tx, tx.Runs().LockForCall, caller, call); err != nil {
		return l, err
	}
	return l, l.admit(ctx, *call.Token)
}

// admit refuses a call while the company is archived, or unless the lease is live.
func (l *locked) admit(ctx context.Context, token int64) error {
	if l.Company.Status == company.Archived {
		return l.Company.Allows(company.Update)
	}
	return l.check(ctx, token)
}

// lock locks the lease of a call, which carries a fencing token, by LockForCall or LockForEnd, whether it is live or not.
func (s *Service) lock(
	ctx context.Context, tx store.Tx, by func(context.Context, id.Lease, event.Actor) (store.LockedLease, error),
	caller agent.Caller, call inbound.LeaseCall,
) (l locked, err error) {
	l.tx, l.unit = tx, work.In(tx, s.ids, caller.Company, caller.Actor())
	l.LockedLease, err = by(ctx, call.Lease, caller.Actor())
	l.Run, err = ofCaller(caller)(l.Run, err)
	if fault.CodeOf(err) == fault.NotFound {
		_, gone := companyOf(ctx, tx.Companies(), caller)
		return l, cmp.Or(gone, err)
	}
	if err == nil {
		err = isThere(l.Company)
	}
	if err != nil {
		return l, err
	}
	if problems, isFit := checkToken(call); !isFit {
		return l, fault.Validation(problems)
	}
	l.at, err = tx.StoreNow(ctx)
	return l, err
}

// checkToken returns the problems of a call with those of its fencing token, and whether that can be one.
func checkToken(call inbound.LeaseCall) (problems fault.Problems, isFit bool) {
	problems = slices.Clone(call.Problems)
	switch {
	case call.Token == nil:
		problems.Add(fault.Fieldf("fencingToken", fault.Required, "fencingToken is required"))
	case *call.Token < 1:
		problems.Add(fault.Fieldf("fencingToken", fault.OutOfRange, "fencingToken must be 1 or more"))
	default:
		return problems, true
	}
	return problems, false
}

// check refuses a lease that is not live.
func (l *locked) check(ctx context.Context, token int64) error {
	isCancelled, err := isBelowCancelled(ctx, l.tx.Issues(), l.Company.ID, l.Issue.Parent)
	if err != nil {
		return err
	}
	in := run.Circumstances{
		Now: l.at, Epoch: l.Company.LeaseEpoch, AgentRetired: !l.Agent.IsEmployed(), IsCancelled: isCancelled, Issue: l.Issue.Status,
	}
	if l.Run.Check(token, in) == nil {
		return nil
	}
	next, _, _, err := work.NextSweep(ctx, l.tx.Runs(), l.at) // the grace that it gives counts already
	if err != nil {
		return err
	}
	in.GraceUntil = next.GraceUntil
	if l.Run.Lease.Epoch != in.Epoch {
		if in.Revoked, err = l.tx.Runs().Revocation(ctx, l.Company.ID, l.Run.Lease.Epoch); err != nil {
			return err
		}
	}
	return l.Run.Check(token, in)
}

// accept renews the lease and saves the run.
func (l *locked) accept(ctx context.Context) error {
	l.Run = l.Run.Renew(l.at)
	return l.tx.Runs().Save(ctx, l.Run)
}

// state is what the call returns.
func (l *locked) state() inbound.LeaseState {
	return inbound.LeaseState{Run: l.Run, PendingComments: l.Pending}
}
