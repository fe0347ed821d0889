package leases

import (
	"cmp"
	"context"
	"slices"
	"time"

	"holdco/app/work"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
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

	token    int64          // the fencing token of the call; 0: none that is valid
	problems fault.Problems // of the call, those of its fencing token too

	envelopes budget.Envelopes // of the lease
}

// lockLive locks the lease of a call and checks that it is live. It cannot tell for a call without a valid fencing token, which has
// problems: that is refused later, with all that it has.
func (s *Service) lockLive(ctx context.Context, tx store.Tx, caller agent.Caller, call inbound.LeaseCall) (l locked, err error) {
	if l, err = s.lock(ctx, tx, tx.Runs().LockForCall, caller, call); err != nil {
		return l, err
	}
	return l, l.admit(ctx)
}

// admit refuses a call while the company is archived, or unless the lease is live.
func (l *locked) admit(ctx context.Context) error {
	if err := l.Company.Allows(company.Update); err != nil {
		return err
	}
	return l.check(ctx)
}

// lock locks the lease of a call by LockForCall or LockForEnd, whether it is live or not.
func (s *Service) lock(
	ctx context.Context, tx store.Tx, by func(context.Context, id.Lease, event.Actor, ...string) (store.LockedLease, error),
	caller agent.Caller, call inbound.LeaseCall, keys ...string,
) (l locked, err error) {
	l.tx, l.unit = tx, work.In(tx, s.ids, caller.Company, caller.Actor())
	l.LockedLease, err = by(ctx, call.Lease, caller.Actor(), keys...)
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
	l.token, l.problems = tokenOf(call)
	if l.at, err = tx.StoreNow(ctx); err != nil {
		return l, err
	}
	l.envelopes = work.EnvelopesOf(l.Company, l.Agent, l.Run, l.Issue, l.Accounts)
	return l, work.Current(ctx, tx.Envelopes(), l.envelopes, l.at)
}

// tokenOf returns the fencing token of a call, 0 if that has none that is valid, and the problems of the call with those of the token.
func tokenOf(call inbound.LeaseCall) (token int64, problems fault.Problems) {
	problems = slices.Clone(call.Problems)
	switch {
	case call.Token == nil:
		problems.Add(fault.Fieldf("fencingToken", fault.Required, "fencingToken is required"))
	case *call.Token < 1:
		problems.Add(fault.Fieldf("fencingToken", fault.OutOfRange, "fencingToken must be 1 or more"))
	default:
		token = *call.Token
	}
	return token, problems
}

// check refuses a lease that is not live, if the call has a valid fencing token. See lockLive for one that has none.
func (l *locked) check(ctx context.Context) error {
	if l.token == 0 {
		return nil
	}
	isCancelled, err := isBelowCancelled(ctx, l.tx.Issues(), l.Company.ID, l.Issue.Parent)
	if err != nil {
		return err
	}
	in := run.Circumstances{
		Now: l.at, Epoch: l.Company.LeaseEpoch, AgentRetired: !l.Agent.IsEmployed(),
		IsCancelled: isCancelled || l.IsEnding, Issue: l.Issue.Status,
	}
	if l.Run.Check(l.token, in) == nil {
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
	return l.Run.Check(l.token, in)
}

// accept renews the lease of a call that is not refused, saves the run, and returns the state of it.
func (l *locked) accept(ctx context.Context) (inbound.LeaseState, error) {
	l.Run = l.Run.Renew(l.at, l.envelopes.FinishBy())
	return l.state(), l.tx.Runs().Save(ctx, l.Run)
}

// state is what the call returns.
func (l *locked) state() inbound.LeaseState {
	return inbound.LeaseState{Run: l.Run, PendingComments: l.Pending, Budget: budgetOf(l.envelopes, l.Run)}
}

// mayBegin refuses what only a lease may do that need not finish: fault.BudgetExhausted.
func (l *locked) mayBegin() error {
	if by := l.envelopes.FinishBy(); !by.IsZero() {
		return fault.New(fault.BudgetExhausted, "A budget of the lease is spent; finish the issue, hand it off or release it.").
			With("finishBy", instant.Format(by))
	}
	return nil
}

// budgetOf is what a lease may still spend.
func budgetOf(all budget.Envelopes, of run.Run) inbound.LeaseBudget {
	reserved := money.USD(0)
	if of.IsOpen() {
		reserved = of.Held
	}
	return inbound.LeaseBudget{Remaining: all.Left(reserved), Level: all.Level(), FinishBy: all.FinishBy()}
}

// spend records what charges of the lease add up to, ends it with them if the caller says so, and keeps what follows.
func (l *locked) spend(ctx context.Context, sum, reserved money.USD, isEnd bool) (isOver bool, err error) {
	giveBack := money.USD(0)
	if isEnd {
		giveBack = l.Run.Held
	}
	if sum == 0 && reserved == 0 && giveBack == 0 {
		return false, nil
	}
	before := slices.Clone(l.envelopes)
	wasShort := l.envelopes.WasShort(giveBack)
	l.envelopes.Charge(sum, reserved+giveBack)
	if isOver, err = l.unit.Keep(ctx, before, l.envelopes, l.at); err == nil && wasShort {
		err = l.tx.Envelopes().Freed(ctx, l.Company.ID)
	}
	return isOver, err
}
