package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/domain/text"
)

// Issues are the use cases of issues. All are about the issues of one company: an unknown issue is fault.NotFound, and so is one of
// another company, and a company that the caller may not know of. Reads need Read, and writes Write. Writes fail with
// fault.CompanyArchived or fault.InvalidTransition while the company takes no changes, and moves with fault.InvalidTransition when
// the state of the issue does not allow them.
type Issues interface {
	// List returns a page of the issues that match. An agent, a team, a project, a goal, a workflow or a parent that the company does not
	// have is fault.NotFound.
	List(ctx context.Context, caller access.Caller, list IssueList) (page.Page[issue.Issue], error)

	// Count counts the issues that match, in each state: without filters, or by one of a team, an agent, a project and a goal, all of them,
	// else
	// MostCounted at most. The order and the page of the list do not matter.
	Count(ctx context.Context, caller access.Caller, list IssueList) (issue.Counts, error)

	Get(ctx context.Context, caller access.Caller, of id.Company, which id.Issue) (issue.Issue, error)

	// Comments returns a page of the comments on an issue, newest first.
	Comments(
		ctx context.Context, caller access.Caller, of id.Company, on id.Issue, after page.Position, size int,
	) (page.Page[issue.Comment], error)

	// Runs returns a page of the runs of an issue, newest first.
	Runs(
		ctx context.Context, caller access.Caller, of id.Company, on id.Issue, after page.Position, size int,
	) (page.Page[run.Run], error)

	// Run returns a run of an issue with its newest checkpoints, CheckpointsShown at most, oldest first.
	Run(ctx context.Context, caller access.Caller, of id.Company, on id.Issue, which id.Run) (run.Run, []run.Checkpoint, error)

	// Log returns a part of what the program of a run has written. It fails with fault.NotFound when this server has no log of the
	// run: no program worked on it, or one on another host.
	Log(ctx context.Context, caller access.Caller, of id.Company, on id.Issue, which id.Run, part LogPart) (RunLog, error)

	// Create files an issue. The faults are those of issue.New.
	Create(ctx context.Context, caller access.Caller, of id.Company, draft issue.Draft, once idempotency.Request) (issue.Issue, error)

	// Update merges a patch. The faults are fault.PreconditionFailed and those of issue.Issue.Apply.
	Update(
		ctx context.Context, caller access.Caller, of id.Company, which id.Issue, patch issue.Patch, match precondition.Match,
	) (issue.Issue, error)

	// Move moves an issue. It returns the issue, or of issue.Retry the new one.
	Move(
		ctx context.Context, caller access.Caller, of id.Company, which id.Issue, move IssueMove, match precondition.Match,
		once idempotency.Request,
	) (issue.Issue, error)

	// Bulk moves several issues, each in a unit of work of its own, and returns what came of each. Under an idempotency key a
	// repeat moves none again.
	Bulk(ctx context.Context, caller access.Caller, of id.Company, bulk IssueBulk, once idempotency.Request) ([]IssueOutcome, error)

	// Comment says something about an issue, in any state.
	Comment(
		ctx context.Context, caller access.Caller, of id.Company, on id.Issue, note issue.Note, once idempotency.Request,
	) (issue.Comment, error)
}

// CheckpointsShown bounds how many checkpoints Issues.Run returns.
const CheckpointsShown = 200

// MostCounted bounds how many issues Issues.Count counts one by one.
const MostCounted = 10_000

// IssueList selects a page of issues.
type IssueList struct {
	Company  id.Company
	Number   int64          // 0: any
	Status   []issue.Status // nil: any
	Agent    string         // the id of an agent; "": any
	Team     string         // the id or the slug of a team; "": any
	Parent   *string        // the id of an issue; "": issues without a parent; nil: any
	Project  string         // the id of a project; "": any
	Goal     string         // the id of a goal, which the issues have themselves; "": any
	Workflow string         // the id or the slug of a workflow: its containers; "": any
	Label    string         // "": any
	Priority issue.Priority // "": any
	Words    text.Words     // in the title or the description; nil: any
	Since    time.Time      // created at or after; zero: any
	Until    time.Time      // created before; zero: any
	Sort     string         // created, updated, priority or due; "": created
	After    page.Position
	Size     int // page.MinSize to page.MaxSize
}

// IssueMove is what was sent to move an issue.
type IssueMove struct {
	Action issue.Action          // Assign, Unassign, Cancel, Accept, Reject, HandOff or Retry
	To     issue.AssignmentDraft // of Assign
	Note   issue.Note            // of Reject and HandOff, which need one, and Cancel
}

// IssueBulk is what was sent to move several issues; nil fields were absent. Problems are errors of its form.
type IssueBulk struct {
	Action   *string
	IDs      *[]string // 1 to MostInBulk
	Move     IssueMove
	Problems fault.Problems
}

// MostInBulk bounds how many issues one call moves.
const MostInBulk = 100

// IssueOutcome is what came of one issue of many.
type IssueOutcome struct {
	ID    string
	Issue any // as the API shows it; nil if Err is set
	Err   error
}

// LogPart is which part of a log is wanted.
type LogPart struct {
	From int64 // RunLog.Next of the part before; 0: the beginning
	Wait bool  // until there is something, or the run has ended
}

// RunLog is a part of what a program has written to its standard output and error.
type RunLog struct {
	Written []byte
	Next    int64 // where the next part begins
	IsOpen  bool  // the run is open: more may come
}
