package issues

import (
	"context"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Create files an issue.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft issue.Draft, once idempotency.Request,
) (issue.Issue, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return issue.Issue{}, err
	}
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	newID := id.New[id.Issue](s.ids.UUIDv7())
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (issue.Issue, error) {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return issue.Issue{}, err
		}
		made, err := issue.New(newID, of, draft, caller.Actor, work.Others(ctx, tx, of), at)
		if err != nil {
			return issue.Issue{}, err
		}
		return work.In(tx, s.ids, of, caller.Actor).File(ctx, made)
	})
}

// Update merges a patch into an issue.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which id.Issue, patch issue.Patch, match precondition.Match,
) (issue.Issue, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return issue.Issue{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.ChangeIn(ctx, s.store, request, store.ByID(which), store.Tx.Issues,
		func(ctx context.Context, tx store.Tx, _ company.Company, current issue.Issue) (issue.Issue, *event.Event, error) {
			if err := checkEnding(ctx, tx, current, issue.Update); err != nil {
				return current, nil, err
			}
			at, err := tx.StoreNow(ctx)
			if err != nil {
				return current, nil, err
			}
			next, updated, err := current.Apply(patch, work.Others(ctx, tx, of), at)
			if err == nil && next.PerTask != current.PerTask {
				err = s.rebudget(ctx, tx, next, caller.Actor, at)
			}
			return next, updated, err
		})
}

// rebudget follows from another budget of an issue; without one it has that of the agent who works on it. What a lease on it holds
// does not matter to its levels.
func (s *Service) rebudget(ctx context.Context, tx store.Tx, next issue.Issue, by event.Actor, at time.Time) error {
	unit := work.In(tx, s.ids, next.Company, by)
	account, err := unit.Account(ctx, string(next.ID))
	if err != nil {
		return err
	}
	usual := budget.Limit{}
	if next.Agent != "" {
		who, err := tx.Agents().Get(ctx, next.Agent)
		if err != nil {
			return err
		}
		usual = who.Budget.PerTask
	}
	_, err = unit.Rebudget(ctx, at, work.IssueEnvelope(next, usual, 0, account))
	return err
}

// Move moves an issue.
func (s *Service) Move(
	ctx context.Context, caller access.Caller, of id.Company, which id.Issue, move inbound.IssueMove, match precondition.Match,
	once idempotency.Request,
) (issue.Issue, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return issue.Issue{}, err
	}
	newIssue, newComment := id.New[id.Issue](s.ids.UUIDv7()), id.New[id.Comment](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: of}
	return store.WriteIn(ctx, s.store, request, store.ByID(which), store.Tx.Issues,
		func(ctx context.Context, tx store.Tx, _ company.Company, current issue.Issue) (issue.Issue, error) {
			if err := checkEnding(ctx, tx, current, move.Action); err != nil {
				return current, err
			}
			at, err := tx.StoreNow(ctx)
			if err != nil {
				return current, err
			}
			m := mover{tx, work.In(tx, s.ids, of, caller.Actor), current, caller.Actor, at}
			if move.Action == issue.Retry {
				return m.retry(ctx, newIssue)
			}
			return m.move(ctx, move, newComment)
		})
}

// checkEnding refuses to change an issue that is about to be cancelled, with one above it or because its project was archived, and to
// retry one in an archived project.
func checkEnding(ctx context.Context, tx store.Tx, current issue.Issue, action issue.Action) error {
	isEnding, err := work.IsEnding(ctx, tx.Projects(), current.Project)
	if err != nil {
		return err
	}
	if isEnding {
		if err := current.AllowsInArchived(action); err != nil {
			return err
		}
	}
	if current.Parent == "" {
		return nil
	}
	above, err := tx.Issues().Above(ctx, current.Company, current.Parent)
	if err != nil {
		return err
	}
	return current.AllowsBelow(above, action)
}

// mover moves one issue in a unit of work.
type mover struct {
	tx      store.Tx
	unit    *work.Unit
	current issue.Issue
	actor   event.Actor
	at      time.Time
}

func (m mover) move(ctx context.Context, move inbound.IssueMove, newComment id.Comment) (issue.Issue, error) {
	note, err := m.unit.Explain(ctx, m.current, move.Action, newComment, move.Note, m.at)
	if err != nil {
		return m.current, err
	}
	next, happened, err := m.decide(ctx, move, note)
	if err != nil {
		return m.current, err
	}
	if err := m.unit.Move(ctx, m.current, next, happened, run.ReasonOf(move.Action)); err != nil {
		return m.current, err
	}
	if next.IsContainer && move.Action == issue.Reject {
		return next, m.unit.RedoLast(ctx, next, move.Note)
	}
	return next, nil
}

func (m mover) decide(
	ctx context.Context, move inbound.IssueMove, note []event.Field,
) (next issue.Issue, happened event.Event, err error) {
	switch move.Action {
	case issue.Assign:
		to, err := move.To.Parse(work.Others(ctx, m.tx, m.current.Company))
		if err != nil {
			return m.current, happened, err
		}
		return m.current.Assign(to, m.at)
	case issue.Reject:
		isActive, err := work.IsActive(ctx, m.tx, m.current.Agent)
		if err != nil {
			return m.current, happened, err
		}
		return m.current.Reject(isActive, m.at, note...)
	case issue.Unassign:
		return m.current.Unassign(m.at)
	case issue.Accept:
		return m.current.Accept(m.at)
	case issue.HandOff:
		return m.current.HandOff(m.at, note...)
	default: // Cancel
		return m.current.Cancel(m.at, note...)
	}
}

// retry makes the issue that takes the place of one that failed or was cancelled.
func (m mover) retry(ctx context.Context, newID id.Issue) (issue.Issue, error) {
	again, err := m.current.Again(newID, m.actor, work.Others(ctx, m.tx, m.current.Company), m.at)
	if err != nil {
		return m.current, err
	}
	made, err := m.unit.File(ctx, again)
	if err != nil {
		return m.current, err
	}
	return made, m.unit.Begin(ctx, store.Settlement{Kind: store.Replace, Subject: string(m.current.ID), Other: string(newID)})
}

// Comment says something about an issue.
func (s *Service) Comment(
	ctx context.Context, caller access.Caller, of id.Company, on id.Issue, note issue.Note, once idempotency.Request,
) (issue.Comment, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return issue.Comment{}, err
	}
	newID := id.New[id.Comment](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.WriteIn(ctx, s.store, request, store.ByID(on), store.Tx.Issues,
		func(ctx context.Context, tx store.Tx, _ company.Company, current issue.Issue) (issue.Comment, error) {
			at, err := tx.StoreNow(ctx)
			if err != nil {
				return issue.Comment{}, err
			}
			made, err := current.NewComment(newID, "body", note, caller.Actor, at)
			if err != nil {
				return issue.Comment{}, err
			}
			if err := tx.Issues().AddComment(ctx, made); err != nil {
				return issue.Comment{}, err
			}
			return made, tx.Record(ctx, current.Commented(made).By(caller.Actor))
		})
}
