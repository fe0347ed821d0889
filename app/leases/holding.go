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
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// holding is a lease in a unit of work that has found it live.
type holding struct {
	tx      store.Tx
	unit    *work.Unit
	company company.Company
	agent   agent.Agent
	run     run.Run
	issue   issue.Issue // as store.Held has it
	pending int         // comments
	blocks  bool        // see store.Held
	at      time.Time
}

// hold locks the lease of a call and checks that it is live.
func (s *Service) hold(ctx context.Context, tx store.Tx, caller agent.Caller, call inbound.LeaseCall) (h holding, err error) {
	if h, err = s.find(ctx, tx, tx.Runs().Hold, caller, call); err != nil {
		return h, err
	}
	return h, h.admit(ctx, *call.Token)
}

// admit refuses a call while the company is archived, or unless the lease is live.
func (h *holding) admit(ctx context.Context, token int64) error {
	if h.company.Status == company.Archived {
		return h.company.Allows(company.Update)
	}
	return h.check(ctx, token)
}

// find locks the lease of a call, which carries a fencing token, whether it is live or not. It reads it by Hold or HoldIssue.
func (s *Service) find(
	ctx context.Context, tx store.Tx, hold func(context.Context, id.Lease, event.Actor) (store.Held, error),
	caller agent.Caller, call inbound.LeaseCall,
) (h holding, err error) {
	h.tx, h.unit = tx, work.In(tx, s.ids, caller.Company, caller.Actor())
	held, err := hold(ctx, call.Lease, caller.Actor())
	h.run, err = ofCaller(caller)(held.Run, err)
	if fault.CodeOf(err) == fault.NotFound {
		_, gone := companyOf(ctx, tx.Companies(), caller)
		return h, cmp.Or(gone, err)
	}
	if err == nil {
		err = isThere(held.Company)
	}
	if err != nil {
		return h, err
	}
	h.agent, h.company, h.issue, h.pending, h.blocks = held.Agent, held.Company, held.Issue, held.Pending, held.Blocks
	if problems, isFit := checkToken(call); !isFit {
		return h, fault.Validation(problems)
	}
	h.at, err = tx.StoreNow(ctx)
	return h, err
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
func (h *holding) check(ctx context.Context, token int64) error {
	isCancelled, err := isBelowCancelled(ctx, h.tx.Issues(), h.company.ID, h.issue.Parent)
	if err != nil {
		return err
	}
	in := run.Circumstances{
		Now: h.at, Epoch: h.company.LeaseEpoch, AgentRetired: !h.agent.IsEmployed(), IsCancelled: isCancelled, Issue: h.issue.Status,
	}
	if h.run.Check(token, in) == nil {
		return nil
	}
	state, oldest, err := h.tx.Runs().Sweep(ctx)
	if err != nil {
		return err
	}
	state, _, _ = state.Next(h.at, oldest) // the grace that the next sweep gives counts too
	in.GraceUntil = state.GraceUntil
	if h.run.Lease.Epoch != in.Epoch {
		if in.Revoked, err = h.tx.Runs().Revocation(ctx, h.company.ID, h.run.Lease.Epoch); err != nil {
			return err
		}
	}
	return h.run.Check(token, in)
}

// accept renews the lease and saves the run.
func (h *holding) accept(ctx context.Context) error {
	h.run = h.run.Renew(h.at)
	return h.tx.Runs().Save(ctx, h.run)
}

// state is what the call returns.
func (h *holding) state() inbound.LeaseState {
	return inbound.LeaseState{Run: h.run, PendingComments: h.pending}
}
