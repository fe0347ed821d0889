package inbound

import (
	"context"
	"maps"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/anyjson"
	"holdco/domain/approval"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/instant"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/domain/team"
)

// Leases are what agents do: they claim issues, work on them under leases, and end these. An agent sees its company only: what
// belongs to others is fault.NotFound, and so is the lease of another agent. Unless a method says otherwise it fails with
// fault.CompanyArchived while the company is archived, and with fault.StaleLease unless the lease is live and the call carries its
// fencing token. Each accepted call on a lease renews it.
type Leases interface {
	// Claim leases the next issue that the agent may take, and waits for one if it was asked to. Without an issue it returns nil.
	// Under an idempotency key it returns the same lease again while that is live, and fails with fault.IdempotencyConflict when the
	// claim has other terms. It fails with fault.Unavailable when too many claims wait. With an error it may return the lease too,
	// without its context: the agent has it, and the context could not be read.
	Claim(ctx context.Context, caller agent.Caller, claim Claim) (*Lease, error)

	// List returns the live leases of the agent, oldest first.
	List(ctx context.Context, caller agent.Caller) ([]Lease, error)

	// Get returns a lease, whether it has ended or not.
	Get(ctx context.Context, caller agent.Caller, which id.Lease) (Lease, error)

	// Context returns what an agent needs to know to work on the issue of a lease. It needs no fencing token.
	Context(ctx context.Context, caller agent.Caller, which id.Lease) (WorkContext, error)

	Renew(ctx context.Context, caller agent.Caller, call LeaseCall) (LeaseState, error)
	Checkpoint(ctx context.Context, caller agent.Caller, call LeaseCall, draft run.CheckpointDraft) (LeaseState, error)

	// Charge records what the work costs, all of it or nothing, each charge once per key. It works for run.LateCharges after the end of
	// the lease too. It fails with fault.IdempotencyConflict when a key was used for another charge.
	Charge(ctx context.Context, caller agent.Caller, call LeaseCall, charges []cost.Draft) (LeaseState, []ChargeOutcome, error)

	Comment(ctx context.Context, caller agent.Caller, call LeaseCall, note issue.Note) (issue.Comment, error)

	// End ends the lease. A repeat of the call that ended it gets the first answer again. It fails with fault.ApprovalRequired when the
	// agent needs an approval to complete issues, and has none; so does File to file one.
	End(ctx context.Context, caller agent.Caller, call LeaseCall, end LeaseEnd) (Ended, error)

	// File files an issue, below that of the lease unless another parent was sent. A lease that the agent does not have is
	// fault.ValidationFailed. It fails with fault.TooManyOf after run.MostFiled.
	File(ctx context.Context, caller agent.Caller, call LeaseCall, draft issue.Draft) (issue.Issue, error)

	// FindIssue returns the id of an issue of the company that is given by its number, in decimal digits, or by its id; the empty id for
	// anything else. It does not look whether an id is that of an issue. File takes numbers in the place of ids too.
	FindIssue(ctx context.Context, caller agent.Caller, reference string) (id.Issue, error)

	// Issue, Comments and Colleagues read in the company.
	Issue(ctx context.Context, caller agent.Caller, which id.Issue) (issue.Issue, error)
	Comments(ctx context.Context, caller agent.Caller, on id.Issue, after page.Position, size int) (page.Page[issue.Comment], error)
	Colleagues(ctx context.Context, caller agent.Caller) ([]agent.Agent, error)
}

// Claim is what was sent to claim an issue; nil fields were absent. Problems are errors of its form.
type Claim struct {
	Wait         *int64 // seconds, 0 to MostWait
	LeaseSeconds *int64
	RunToken     *bool  // whether the run gets a token of its own; under an idempotency key the last answer has the one that counts
	Metered      *bool  // whether who claims charges what the program says that it costs: see run.Run.IsMetered
	Key          string // the idempotency key; empty: none
	Problems     fault.Problems

	// What follows is for Holdco itself.
	Holder   string // see run.Lease
	MostOpen int    // how many open runs the agent may have after it; 0: run.MostOpen
}

// MostWait bounds how many seconds a claim waits.
const MostWait = 30

// LeaseCall is what each call on a lease carries. Problems are errors of the form of the call.
type LeaseCall struct {
	Lease       id.Lease
	Token       *int64              // the fencing token; nil: it was absent
	Fingerprint string              // identifies the action and the body of End
	Once        idempotency.Request // of Checkpoint, Comment and File; its Answer gets what they return
	Problems    fault.Problems
}

// Lease is a lease as its agent sees it, with its run and the issue. Context is nil unless it was claimed now.
type Lease struct {
	Run       run.Run
	Issue     issue.Issue
	Budget    LeaseBudget
	Requires  []string // the names of actions for which the agent needs an approval
	Workspace string   // the directory of the issue, below the data directory
	Context   *WorkContext
	RunToken  access.Value // empty: none was asked for now

	// Sessions are what earlier runs on the issue have charged, by the sessions of the program that the charges name.
	Sessions map[string]cost.Tokens

	IsReplayed bool          // it was claimed under the same key before
	Took       time.Duration // to find and lease the issue, without waiting for one; 0 unless it was claimed now
}

// LeaseState is what each accepted call on a lease returns.
type LeaseState struct {
	Run             run.Run
	PendingComments int // by others, since the agent got the context last
	Budget          LeaseBudget
}

// LeaseBudget is what a lease may still spend.
type LeaseBudget struct {
	Remaining budget.Limit // the least of its envelopes, with what it has reserved itself; none: nothing limits it
	Level     budget.Level // the highest of its envelopes
	FinishBy  time.Time    // when the lease ends, because a limit is reached; zero: none is
}

// WorkContext is what an agent needs to know to work on an issue. Lists are in the order in which they were made, and have the
// newest of what there is.
type WorkContext struct {
	Agent       agent.Agent     // who works: only ID, Name, Role, Requires and Instructions
	Team        *team.Team      // only ID and Name; nil: it was deleted
	Manager     *agent.Agent    // of the team, only ID, Name and Role; nil: none
	Company     company.Company // only ID, Name and Description
	Goal        *goal.Goal      // of the issue; nil: none
	Project     *goal.Project   // of the issue; nil: none
	Parents     []issue.Issue   // the next one first
	Blockers    []RelatedIssue
	Children    []RelatedIssue
	Comments    []issue.Comment
	Checkpoints []run.Checkpoint    // of all runs of the issue
	Approvals   []approval.Approval // likewise
	LastError   string              // of the attempt before, JSON; empty: none

	Approved     []string       // the names of actions that approvals of the issue let the run do
	FormerResult Excerpt        // that was rejected
	Rejection    *issue.Comment // the note of who rejected it; nil: none
	Instructions string         // of the step of a workflow; empty: none

	Names map[event.Actor]string // of authors and of who decided, as far as they have one
}

// RelatedIssue is an issue with the beginning of its result.
type RelatedIssue struct {
	Issue issue.Issue
	Excerpt
}

// Excerpt is the beginning of a result.
type Excerpt struct {
	Result string // JSON: see issue.Excerpt; empty: none
	IsCut  bool   // there is more
}

// ChargeOutcome is what came of one charge.
type ChargeOutcome struct {
	Entry       cost.Entry
	IsDuplicate bool // it had been recorded before
}

// LeaseEnd is what was sent to end a lease.
type LeaseEnd struct {
	Action  issue.Action     // Complete, Fail, HandOff or Release
	Result  []byte           // of Complete, JSON; nil: none
	Note    issue.Note       // of HandOff, which needs one, and Release; of Complete the summary
	Failure run.FailureDraft // of Fail; of Release why Holdco itself gives the issue back
	Charges []cost.Draft

	// Setback is why what runs the agent could not work, of Release with a Failure: the agent waits, and the attempt is kept. Its Repeats
	// can end that: see issue.MostRepeats. Nil: there was none, but a Failure whose code is that of a setback means it all the same.
	Setback *agent.Setback
}

// Ended is the answer to the call that ended a lease: the issue and the run, as JSON.
type Ended struct {
	Answer     string
	IsReplayed bool
}

// Fields returns the lease as the gateway shows it, with its context and the token of its run when it has them.
func (l *Lease) Fields() event.Fields {
	lease := l.Run.Lease
	fields := event.Fields{
		event.F("leaseId", string(lease.ID)),
		event.F("fencingToken", lease.Token),
		event.F("expiresAt", instant.Format(lease.ExpiresAt)),
		event.F("leaseSeconds", int64(lease.Time/time.Second)),
		event.F("mustFinish", !l.Budget.FinishBy.IsZero()),
		event.F("finishBy", instant.Optional(l.Budget.FinishBy)),
		event.F("issue", l.Issue.Fields()),
		event.F("run", l.Run.Fields()),
		event.F("budget", l.Budget.Fields()),
		event.F("workspacePath", l.Workspace),
		event.F("requires", append([]string{}, l.Requires...)),
	}
	if l.RunToken != "" {
		fields = append(fields, event.F("runToken", string(l.RunToken)))
	}
	if len(l.Sessions) > 0 {
		fields = append(fields, event.F("sessions", sessionFields(l.Sessions)))
	}
	if l.Context != nil {
		fields = append(fields, event.F("context", l.Context.Fields()))
	}
	return fields
}

func sessionFields(sessions map[string]cost.Tokens) []event.Fields {
	shown := make([]event.Fields, 0, len(sessions))
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		shown = append(shown, event.Fields{event.F("session", name), event.F("tokens", sessions[name].Fields())})
	}
	return shown
}

// Fields returns the budget as the gateway shows it.
func (b LeaseBudget) Fields() event.Fields {
	return event.Fields{b.Remaining.Field("remainingUsd"), event.F("level", string(b.Level))}
}

// Fields returns the context as the gateway shows it.
func (c WorkContext) Fields() event.Fields {
	parents := make([]event.Fields, len(c.Parents))
	for n, one := range c.Parents {
		parents[n] = briefOf(one)
	}
	return event.Fields{
		goalField(c.Goal),
		projectField(c.Project),
		event.F("parents", parents),
		event.F("children", relatedFields(c.Children)),
		event.F("comments", fieldsOf(c.Comments)),
		event.F("checkpoints", fieldsOf(c.Checkpoints)),
		event.F("approvals", fieldsOf(c.Approvals)),
		event.F("lastError", anyjson.Shown(c.LastError)),
		event.F("instructions", c.Instructions),
		event.F("agent", append(colleague(c.Agent), event.F("instructions", c.Agent.Instructions))),
		c.teamField(),
		c.managerField(),
		event.F("company", event.Fields{
			event.F("id", string(c.Company.ID)), event.F("name", c.Company.Name), event.F("description", c.Company.Description),
		}),
		event.F("requires", append([]string{}, c.Agent.Requires...)),
		event.F("approvedActions", append([]string{}, c.Approved...)),
		event.F("blockers", relatedFields(c.Blockers)),
		event.F("formerResult", anyjson.Shown(c.FormerResult.Result)),
		event.F("formerResultCut", c.FormerResult.IsCut),
		c.rejectionField(),
		event.F("names", c.nameFields()),
	}
}

func colleague(a agent.Agent) event.Fields {
	return event.Fields{event.F("id", string(a.ID)), event.F("name", a.Name), event.F("role", a.Role)}
}

func (c WorkContext) teamField() event.Field {
	if c.Team == nil {
		return event.F("team", nil)
	}
	return event.F("team", event.Fields{event.F("id", string(c.Team.ID)), event.F("name", c.Team.Name)})
}

func (c WorkContext) managerField() event.Field {
	if c.Manager == nil {
		return event.F("manager", nil)
	}
	return event.F("manager", colleague(*c.Manager))
}

func (c WorkContext) rejectionField() event.Field {
	if c.Rejection == nil {
		return event.F("rejection", nil)
	}
	return event.F("rejection", event.Fields{
		event.F("note", c.Rejection.Body), event.F("author", string(c.Rejection.Author)),
		event.F("at", instant.Format(c.Rejection.CreatedAt)),
	})
}

// nameFields are sorted, so that the same context is always shown alike.
func (c WorkContext) nameFields() event.Fields {
	fields := event.Fields{}
	for _, actor := range slices.Sorted(maps.Keys(c.Names)) {
		fields = append(fields, event.F(string(actor), c.Names[actor]))
	}
	return fields
}

func goalField(of *goal.Goal) event.Field {
	if of == nil {
		return event.F("goal", nil)
	}
	return event.F("goal", of.Brief())
}

func projectField(of *goal.Project) event.Field {
	if of == nil {
		return event.F("project", nil)
	}
	return event.F("project", of.Brief())
}

func relatedFields(related []RelatedIssue) []event.Fields {
	shown := make([]event.Fields, len(related))
	for n, one := range related {
		shown[n] = append(briefOf(one.Issue), event.F("result", anyjson.Shown(one.Result)), event.F("resultCut", one.IsCut))
	}
	return shown
}

func briefOf(one issue.Issue) event.Fields {
	return event.Fields{
		event.F("id", string(one.ID)),
		event.F("number", one.Number),
		event.F("title", one.Title),
		event.F("status", string(one.Status)),
	}
}

func fieldsOf[T interface{ Fields() event.Fields }](items []T) []event.Fields {
	shown := make([]event.Fields, len(items))
	for n, one := range items {
		shown[n] = one.Fields()
	}
	return shown
}
