package work

import (
	"context"
	"errors"
	"slices"

	"holdco/domain/approval"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/store"
)

// Decide stores an approval that was decided, or expired, with its event. The issue that waits for it goes back to its agent.
func (u *Unit) Decide(ctx context.Context, next approval.Approval, happened event.Event) error {
	if err := u.saveApproval(ctx, next, happened); err != nil {
		return err
	}
	return u.Resume(ctx, next)
}

// Resume moves the issue that waits for an approval which was decided, or expired: to its agent, or out of a review.
func (u *Unit) Resume(ctx context.Context, next approval.Approval) error {
	if !next.IsAwaited() {
		return nil
	}
	i, err := u.tx.Issues().Lock(ctx, next.Issue)
	if err != nil || i.WaitingFor != next.ID {
		return err
	}
	if i.Status == issue.Review {
		return u.judge(ctx, i, next)
	}
	isActive, err := IsActive(ctx, u.tx, i.Agent)
	if err != nil {
		return err
	}
	resumed, assigned, err := i.ResumeAfter(next.ID, isActive, next.DecidedAt)
	if err != nil {
		return err
	}
	if err := u.EndApprovals(ctx, i, resumed); err != nil {
		return err
	}
	return u.save(ctx, resumed, assigned)
}

// judge accepts or rejects a step whose gate has asked for an approval.
func (u *Unit) judge(ctx context.Context, step issue.Issue, by approval.Approval) error {
	if by.Status.IsApproved() {
		next, accepted, err := step.Decided().Accept(by.DecidedAt)
		if err != nil {
			return err
		}
		return u.Move(ctx, step, next, accepted, "")
	}
	isActive, err := IsActive(ctx, u.tx, step.Agent)
	if err != nil {
		return err
	}
	note, err := u.Explain(ctx, step, issue.Reject, id.New[id.Comment](u.ids.UUIDv7()), by.Rejection(), by.DecidedAt)
	if err != nil {
		return err
	}
	next, rejected, err := by.Reject(step, isActive, note...)
	if err != nil {
		return err
	}
	return u.Move(ctx, step, next, rejected, "")
}

// EndApprovals ends what was asked for on an issue when nobody waits for it any more, now that the issue is next.
func (u *Unit) EndApprovals(ctx context.Context, before, next issue.Issue) error {
	if !before.EndsApprovals(next) {
		return nil
	}
	open, err := u.tx.Approvals().LockOpen(ctx, before.ID)
	if err != nil {
		return err
	}
	for _, one := range open {
		expired, happened := one.Expire(next.UpdatedAt)
		if err := u.saveApproval(ctx, expired, happened); err != nil {
			return err
		}
	}
	return nil
}

func (u *Unit) saveApproval(ctx context.Context, next approval.Approval, happened event.Event) error {
	if err := u.tx.Approvals().Save(ctx, next); err != nil {
		return err
	}
	return u.tx.Record(ctx, happened.By(u.actor))
}

// IsApproved reports whether an approval lets a run do an action.
func IsApproved(ctx context.Context, tx store.Tx, by run.Run, actionName string) (bool, error) {
	last, err := tx.Approvals().LastApproved(ctx, by.Issue, by.Agent, actionName)
	exists, err := store.Exists(err)
	if err != nil || !exists {
		return false, err
	}
	asked := by
	if last.Run != by.ID {
		if asked, err = tx.Runs().Get(ctx, last.Run); err != nil {
			return false, err
		}
	}
	return last.Covers(actionName, asked, by), nil
}

// mostExpired bounds how many approvals one unit of work ends, each with an issue that may wait for it.
const mostExpired = 50

// ExpireApprovals ends the approvals that were not decided in time. A company for which that fails holds up no other of the portion
// that is read.
func (s *Service) ExpireApprovals(ctx context.Context) (more bool, err error) {
	at, err := s.store.StoreNow(ctx)
	if err != nil {
		return false, err
	}
	overdue, err := s.store.Approvals().Overdue(ctx, at)
	if err != nil {
		return false, err
	}
	of := map[id.Company][]id.Approval{}
	for _, one := range overdue {
		of[one.Company] = append(of[one.Company], one.ID)
	}
	var failures []error
	for company, approvals := range of {
		for some := range slices.Chunk(approvals, mostExpired) {
			failures = append(failures, s.expireApprovals(ctx, company, some))
		}
	}
	err = errors.Join(failures...)
	return err == nil && len(overdue) == store.Portion, err
}

// expireApprovals ends those of some approvals that are still overdue.
func (s *Service) expireApprovals(ctx context.Context, of id.Company, approvals []id.Approval) error {
	return s.inTurn(ctx, of, sweeper, func(ctx context.Context, tx store.Tx, u *Unit) error {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		for _, which := range approvals {
			a, err := tx.Approvals().Lock(ctx, which)
			if err != nil {
				return err
			}
			if !a.IsOverdue(at) {
				continue
			}
			expired, happened := a.Expire(at)
			if err := u.Decide(ctx, expired, happened); err != nil {
				return err
			}
		}
		return nil
	})
}
