package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/precondition"
)

// Approvals are the use cases of people who decide what agents ask for. All are about the approvals of one company: an unknown one is
// fault.NotFound, and so is one of another company, and a company that the caller may not know of. Reads need Read, and writes Write.
// Writes fail with fault.CompanyArchived or fault.InvalidTransition while the company takes no changes.
type Approvals interface {
	// List returns a page of the approvals that match. An agent, a team or an issue that the company does not have is fault.NotFound.
	List(ctx context.Context, caller access.Caller, list ApprovalList) (page.Page[approval.Approval], error)

	Get(ctx context.Context, caller access.Caller, of id.Company, which id.Approval) (Approval, error)

	// Decide decides an open approval. The issue that waits for it goes back to its agent. The faults are those of
	// approval.Approval.Decide, and fault.PreconditionFailed.
	Decide(
		ctx context.Context, caller access.Caller, of id.Company, which id.Approval, verdict approval.Verdict, match precondition.Match,
		once idempotency.Request,
	) (Approval, error)

	// Comment says something about an approval, in any state. On an open one it asks the agent.
	Comment(
		ctx context.Context, caller access.Caller, of id.Company, on id.Approval, note issue.Note, once idempotency.Request,
	) (Approval, error)

	// Rules returns a page of the rules of a company, newest first.
	Rules(ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int) (page.Page[approval.Rule], error)

	// CreateRule makes a rule. The faults are those of approval.NewRule.
	CreateRule(
		ctx context.Context, caller access.Caller, of id.Company, draft approval.RuleDraft, once idempotency.Request,
	) (approval.Rule, error)

	Rule(ctx context.Context, caller access.Caller, of id.Company, which id.ApprovalRule) (approval.Rule, error)

	// DeleteRule removes a rule, and returns it as it was. What it has decided stays decided.
	DeleteRule(
		ctx context.Context, caller access.Caller, of id.Company, which id.ApprovalRule, match precondition.Match,
	) (approval.Rule, error)
}

// AgentApprovals are what agents do to get approvals. Another agent's approval is fault.NotFound.
type AgentApprovals interface {
	// RequestApproval asks for an approval under a live lease, as Leases say, and renews that. A rule may decide it at once. If it was
	// to be parked, and is pending, the lease has ended; a repeat of the call gets the first answer again.
	RequestApproval(ctx context.Context, caller agent.Caller, call LeaseCall, draft approval.Draft) (RequestedApproval, error)

	// Approval returns an approval. It renews the lease of its run while that is live. With a wait it returns when the approval is no
	// longer pending, or the wait is over. It fails with fault.Unavailable when too many wait.
	Approval(ctx context.Context, caller agent.Caller, which id.Approval, wait time.Duration) (Approval, error)

	// AnswerQuestion says something about an open approval, and answers what a person asked. It renews the lease of its run, or fails
	// with fault.StaleLease when that is open but cannot be used; a run that was parked does not matter.
	AnswerQuestion(
		ctx context.Context, caller agent.Caller, which id.Approval, note issue.Note, once idempotency.Request,
	) (Approval, error)
}

// Approval is an approval with all comments on it, oldest first.
type Approval struct {
	approval.Approval

	Said []approval.Comment
}

// Fields returns the approval as APIs show a single one.
func (a Approval) Fields() event.Fields {
	return append(a.Approval.Fields(), event.F("comments", fieldsOf(a.Said)))
}

// RequestedApproval is an approval that was asked for.
type RequestedApproval struct {
	Approval

	Answer string // to the call that parked the run, as JSON, if this one repeats it; empty: it does not
}

// ApprovalList selects a page of approvals.
type ApprovalList struct {
	Company id.Company
	Status  []approval.Status // nil: any
	Agent   string            // the id of an agent; "": any
	Team    string            // the id or the slug of a team; "": any
	Issue   string            // the id of an issue; "": any
	Since   time.Time         // asked for at or after; zero: any
	Until   time.Time         // asked for before; zero: any
	After   page.Position
	Size    int // page.MinSize to page.MaxSize
}
