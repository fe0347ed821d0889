package store

import (
	"context"
	"time"

	"holdco/domain/approval"
	"holdco/domain/id"
	"holdco/domain/page"
)

// ApprovalReader reads approvals and their comments.
type ApprovalReader interface {
	Getter[id.Approval, approval.Approval]

	// List returns at most size of the approvals that match and come after a position: newest first, and by descending id within one
	// instant.
	List(ctx context.Context, filter ApprovalFilter, after page.Position, size int) (page.Page[approval.Approval], error)

	// OnIssue returns the newest approvals of all runs of an issue, most at most, newest first.
	OnIssue(ctx context.Context, of id.Issue, most int) ([]approval.Approval, error)

	// LastApproved returns the approval that an agent asked for last, of those on an issue that are approved and have an action name, or
	// fault.NotFound.
	LastApproved(ctx context.Context, of id.Issue, by id.Agent, actionName string) (approval.Approval, error)

	// Comments returns all comments on an approval, oldest first.
	Comments(ctx context.Context, on id.Approval) ([]approval.Comment, error)

	// Overdue returns the open approvals whose time was over at an instant, the earliest first: Portion at most. Their companies are
	// not being deleted.
	Overdue(ctx context.Context, at time.Time) ([]OpenApproval, error)

	// Pending returns those of some approvals that are pending.
	Pending(ctx context.Context, which []id.Approval) ([]id.Approval, error)
}

// OpenApproval is an approval that is not decided.
type OpenApproval struct {
	ID      id.Approval
	Company id.Company
}

// ApprovalFilter says which approvals a list holds: those that meet every condition that is set.
type ApprovalFilter struct {
	Company id.Company
	Status  []approval.Status // nil: any
	Agent   id.Agent          // "": any
	Team    id.Team           // of the agent when it asked; "": any
	Issue   id.Issue          // "": any
	Since   time.Time         // asked for at or after; zero: any
	Until   time.Time         // asked for before; zero: any
}

// Approvals reads and changes approvals and their comments. Save raises the work revision of the company when the approval is no longer
// pending.
type Approvals interface {
	ApprovalReader

	// Save does not change what was asked for, which is permanent: all but the status, the edits, the note, Comments, DecidedBy,
	// ExpiresAt and DecidedAt.
	Repository[id.Approval, approval.Approval]

	// LockOpen is Lock of the open approvals on an issue, oldest first.
	LockOpen(ctx context.Context, on id.Issue) ([]approval.Approval, error)

	// AddComment inserts a comment.
	AddComment(ctx context.Context, added approval.Comment) error
}

// ApprovalRuleReader reads the rules that decide approvals.
type ApprovalRuleReader interface {
	Getter[id.ApprovalRule, approval.Rule]

	// List returns at most size rules of a company that come after a position: newest first, and by descending id within one instant.
	List(ctx context.Context, of id.Company, after page.Position, size int) (page.Page[approval.Rule], error)

	// For returns the rules of a company for an agent, for a team, and for all.
	For(ctx context.Context, of id.Company, by id.Agent, in id.Team) ([]approval.Rule, error)

	// Count counts the rules of a company.
	Count(ctx context.Context, of id.Company) (int, error)
}

// ApprovalRules reads and changes rules, which come and go, and never change.
type ApprovalRules interface {
	ApprovalRuleReader
	Locker[id.ApprovalRule, approval.Rule]

	Add(ctx context.Context, added approval.Rule) error

	// Remove removes a rule, which has to be there.
	Remove(ctx context.Context, which id.ApprovalRule) error
}
