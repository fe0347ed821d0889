package leases

import (
	"context"
	"slices"
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

// Bounds of a context.
const (
	mostShown   = 50        // comments, checkpoints and children
	contextSize = 256 << 10 // bytes of comments and checkpoints
)

// Context returns what an agent needs to know to work on an issue.
func (s *Service) Context(ctx context.Context, caller agent.Caller, which id.Lease) (shown inbound.WorkContext, err error) {
	if err := caller.MayRead(); err != nil {
		return shown, err
	}
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		found, err := ofCaller(caller)(tx.Runs().LockLease(ctx, which))
		if err != nil {
			return err
		}
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		found.ContextAt = at
		tx.Unrecorded()
		return tx.Runs().Save(ctx, found)
	})
	if err != nil {
		return shown, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found, err := find(ctx, r, caller, which)
		if err != nil {
			return err
		}
		shown, err = contextOf(ctx, r, found.Run, found.Issue, false)
		return err
	})
	return shown, err
}

// contextOf reads the context of an issue for one of its runs. It reads neither children nor comments of an issue that is alone.
func contextOf(
	ctx context.Context, r store.Reader, its run.Run, of issue.Issue, isAlone bool,
) (shown inbound.WorkContext, err error) {
	shown.LastError = of.Error
	if of.Goal != "" {
		found, err := r.Goals().Get(ctx, of.Goal)
		if err != nil {
			return shown, err
		}
		shown.Goal = &found
	}
	if of.Project != "" {
		found, err := r.Projects().Get(ctx, of.Project)
		if err != nil {
			return shown, err
		}
		shown.Project = &found
	}
	if of.IsStep() {
		steps, err := r.Workflows().Steps(ctx, of.Workflow, of.WorkflowVersion)
		if err != nil && fault.CodeOf(err) != fault.NotFound { // a workflow can be deleted once its issues have ended
			return shown, err
		}
		if of.Place <= len(steps) {
			shown.Instructions = steps[of.Place-1].Instructions
		}
	}
	for parent := of.Parent; parent != ""; {
		above, err := r.Issues().Get(ctx, parent)
		if err != nil {
			return shown, err
		}
		shown.Parents = append(shown.Parents, above)
		parent = above.Parent
	}
	var children page.Page[issue.Issue]
	var comments page.Page[issue.Comment]
	if !isAlone {
		children, err = r.Issues().List(ctx, store.IssueFilter{Company: of.Company, Parent: &of.ID}, page.Position{}, mostShown)
		if err != nil {
			return shown, err
		}
		if comments, err = r.Issues().Comments(ctx, of.ID, page.Position{}, mostShown); err != nil {
			return shown, err
		}
	}
	var checkpoints []run.Checkpoint
	if of.FencingToken > 1 || its.Checkpoints > 0 { // there was an earlier run, or this one has made some
		if checkpoints, err = r.Runs().CheckpointsOn(ctx, of.ID, mostShown); err != nil {
			return shown, err
		}
	}
	shown.Children, shown.Comments, shown.Checkpoints, shown.Approvals = children.Items, nil, nil, nil
	left := contextSize
	for _, one := range comments.Items {
		if left -= len(one.Body); left >= 0 {
			shown.Comments = append(shown.Comments, one)
		}
	}
	for _, one := range checkpoints {
		if left -= len(one.Note) + len(one.Data); left >= 0 {
			shown.Checkpoints = append(shown.Checkpoints, one)
		}
	}
	if of.FencingToken > 1 || of.Asking {
		if shown.Approvals, err = approvalsOn(ctx, r, of.ID, left); err != nil {
			return shown, err
		}
	}
	slices.Reverse(shown.Children)
	slices.Reverse(shown.Comments)
	slices.Reverse(shown.Checkpoints)
	return shown, nil
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
