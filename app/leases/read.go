package leases

import (
	"context"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// List returns the live leases of an agent.
func (s *Service) List(ctx context.Context, caller agent.Caller) (live []inbound.Lease, err error) {
	if err := caller.MayRead(); err != nil {
		return nil, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		live = nil
		at, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		c, err := companyOf(ctx, r.Companies(), caller)
		if err != nil {
			return err
		}
		a, err := r.Agents().Get(ctx, caller.ID)
		if err != nil {
			return err
		}
		runs, err := work.LiveLeases(ctx, r.Runs(), c, a, at)
		if err != nil {
			return err
		}
		for _, one := range runs {
			if !one.IsOf(caller) {
				continue
			}
			i, err := r.Issues().Get(ctx, one.Issue)
			if err != nil {
				return err
			}
			lease := leaseOf(a, i, one)
			if lease.Budget, err = budgetNow(ctx, r, c, a, i, one, at); err != nil {
				return err
			}
			live = append(live, lease)
		}
		return nil
	})
	return live, err
}

// companyOf returns the company of an agent. Once that is being deleted, it fails as the agent's authentication does, which may have
// been a moment ago.
func companyOf(ctx context.Context, companies store.CompanyReader, caller agent.Caller) (company.Company, error) {
	found, err := companies.Get(ctx, caller.Company)
	if err == nil {
		err = isThere(found)
	}
	return found, unlessGone(err)
}

// isThere refuses an agent whose company is being deleted.
func isThere(its company.Company) error {
	if !its.IsListed() {
		return access.Unauthorized("token")
	}
	return nil
}

// unlessGone is the fault for an agent of which something is not found that goes with its company alone.
func unlessGone(err error) error {
	if fault.CodeOf(err) == fault.NotFound {
		return access.Unauthorized("token")
	}
	return err
}

// Get returns a lease.
func (s *Service) Get(ctx context.Context, caller agent.Caller, which id.Lease) (found inbound.Lease, err error) {
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		found, err = find(ctx, r, caller, which)
		return err
	})
	return found, err
}

func find(ctx context.Context, r store.Reader, caller agent.Caller, which id.Lease) (inbound.Lease, error) {
	c, err := companyOf(ctx, r.Companies(), caller)
	if err != nil {
		return inbound.Lease{}, err
	}
	found, err := ofCaller(caller)(r.Runs().ByLease(ctx, which))
	if err != nil {
		return inbound.Lease{}, err
	}
	a, err := r.Agents().Get(ctx, caller.ID)
	if err != nil {
		return inbound.Lease{}, err
	}
	i, err := r.Issues().Get(ctx, found.Issue)
	if err != nil {
		return inbound.Lease{}, err
	}
	at, err := r.StoreNow(ctx)
	if err != nil {
		return inbound.Lease{}, err
	}
	lease := leaseOf(a, i, found)
	lease.Budget, err = budgetNow(ctx, r, c, a, i, found, at)
	return lease, err
}

// budgetNow is what a lease may still spend at an instant.
func budgetNow(
	ctx context.Context, r store.Reader, c company.Company, a agent.Agent, i issue.Issue, its run.Run, at time.Time,
) (inbound.LeaseBudget, error) {
	all, err := envelopesNow(ctx, r.Envelopes(), c, a, i, its, at)
	return budgetOf(all, its), err
}

// envelopesNow are the envelopes of a lease as they are at an instant.
func envelopesNow(
	ctx context.Context, r store.EnvelopeReader, c company.Company, a agent.Agent, i issue.Issue, its run.Run, at time.Time,
) (budget.Envelopes, error) {
	accounts, err := r.Accounts(ctx, c.ID, append(its.Envelopes(), string(i.ID))...)
	if err != nil {
		return nil, err
	}
	all := work.EnvelopesOf(c, a, its, i, accounts)
	return all, work.Current(ctx, r, all, at)
}

// ofCaller lets pass what belongs to an agent. Anything else is not found.
func ofCaller(caller agent.Caller) func(run.Run, error) (run.Run, error) {
	return func(found run.Run, err error) (run.Run, error) {
		if err == nil && !found.IsOf(caller) {
			return run.Run{}, fault.New(fault.NotFound, "There is no such lease.")
		}
		return found, err
	}
}

func leaseOf(a agent.Agent, i issue.Issue, of run.Run) inbound.Lease {
	return inbound.Lease{
		Run: of, Issue: i, Requires: a.Requires,
		Workspace: "workspaces/" + string(i.Company) + "/issues/" + string(i.ID),
	}
}

// Issue returns an issue of the agent's company.
func (s *Service) Issue(ctx context.Context, caller agent.Caller, which id.Issue) (issue.Issue, error) {
	if err := caller.MayRead(); err != nil {
		return issue.Issue{}, err
	}
	return store.GetIn(ctx, s.store.Issues(), caller.Company, which)
}

// Comments returns a page of the comments on an issue.
func (s *Service) Comments(
	ctx context.Context, caller agent.Caller, on id.Issue, after page.Position, size int,
) (found page.Page[issue.Comment], err error) {
	if err := caller.MayRead(); err != nil {
		return found, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		if _, err := store.GetIn(ctx, r.Issues(), caller.Company, on); err != nil {
			return err
		}
		found, err = r.Issues().Comments(ctx, on, after, size)
		return err
	})
	return found, err
}

// mostColleagues bounds how many agents of its company an agent is shown.
const mostColleagues = 1000

// Colleagues returns the agents of the company that have not retired, oldest first.
func (s *Service) Colleagues(ctx context.Context, caller agent.Caller) ([]agent.Agent, error) {
	if err := caller.MayRead(); err != nil {
		return nil, err
	}
	return s.store.Agents().OfCompany(ctx, caller.Company, mostColleagues)
}
