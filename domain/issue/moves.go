package issue

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// Action is a state transition that somebody asks for.
type Action string

// The actions.
const (
	Update   Action = "update"
	Assign   Action = "assign"
	Unassign Action = "unassign"
	Lease    Action = "lease"
	Complete Action = "complete"
	Fail     Action = "fail"
	Expire   Action = "expire"
	Release  Action = "release"
	HandOff  Action = "handoff"
	Accept   Action = "accept"
	Reject   Action = "reject"
	Cancel   Action = "cancel"
	Retry    Action = "retry"
	Requeue  Action = "requeue" // by Holdco: see Revoke and Abandon
	Park     Action = "park"
	Resume   Action = "resume" // by Holdco
)

// allowed is the state machine: the states from which an action leads somewhere. It is refused in any other.
var allowed = map[Action][]Status{
	Update:   {Queued, Assigned, Running, Review, Handoff},
	Assign:   {Queued, Assigned, Handoff},
	Unassign: {Queued, Assigned},
	Lease:    {Queued, Assigned},
	Complete: {Running},
	Fail:     {Running},
	Expire:   {Running},
	Release:  {Running},
	HandOff:  {Assigned, Running, Review},
	Accept:   {Review},
	Reject:   {Review},
	Cancel:   {Queued, Assigned, Running, Review, Handoff},
	Retry:    {Failed, Cancelled},
	Requeue:  {Queued, Assigned, Running},
	Park:     {Running},
	Resume:   {Handoff},
}

// Allows refuses an action that the state of the issue does not allow: fault.InvalidTransition.
func (i Issue) Allows(action Action) error {
	from := allowed[action]
	if i.IsContainer {
		from = allowedOfContainers[action]
	}
	if !slices.Contains(from, i.Status) {
		return i.refuse(action)
	}
	if i.WaitingFor != "" && (action == Accept || action == Reject) {
		return fault.Transition(string(i.Status), string(action), "The issue waits for the approval %s; decide that.", i.WaitingFor)
	}
	return nil
}

// AllowsBelow refuses every action but Cancel on an open issue that is about to be cancelled with one above it:
// fault.InvalidTransition. Above are its ancestors.
func (i Issue) AllowsBelow(above []Ancestor, action Action) error {
	if i.Status.IsFinal() || action == Cancel || !IsBelowCancelled(above) {
		return nil
	}
	return fault.Transition(string(Cancelled), string(action), "The issue is about to be cancelled with the one above it.")
}

// AllowsInArchived refuses every action but Cancel on an open issue that is about to be cancelled because its project was archived,
// and a retry: fault.ProjectArchived.
func (i Issue) AllowsInArchived(action Action) error {
	if action == Cancel || i.Status.IsFinal() && action != Retry {
		return nil
	}
	return ProjectArchived()
}

func (i Issue) refuse(action Action) error {
	if i.IsContainer {
		return fault.Transition(string(i.Status), string(action),
			"An issue with steps that is %s cannot take the action %s.", i.Status, action)
	}
	return fault.Transition(string(i.Status), string(action), "An issue that is %s cannot take the action %s.", i.Status, action)
}

// The reasons of event.IssueRequeued.
const (
	AfterFailure         = "failed"
	AfterExpiry          = "expired"
	AfterRelease         = "released"
	AfterUnassign        = "unassigned"
	AfterRetirement      = "agent_retired"
	AfterCompanyArchived = "company_archived"
)

// BecauseProjectArchived is the reason of event.IssueCancelled when no person cancelled the issue or one above it.
const BecauseProjectArchived = "project_archived"

// Assignment is who is to work on an issue: the agent, or else any of the team, or else any of the company.
type Assignment struct {
	Agent     id.Agent // empty: nobody in particular
	AgentTeam id.Team  // of Agent
	Team      id.Team  // empty: none
	IsPick    bool     // Holdco picked Agent from Team; otherwise a person named it
}

// assign returns the issue with another assignment. Who is named for an issue that is open to a team stays in that team.
func (i Issue) assign(to Assignment) Issue {
	team := to.Team
	if team == "" && to.AgentTeam == i.Team {
		team = i.Team
	}
	i.Agent, i.AgentTeam, i.Team, i.Binding = to.Agent, to.AgentTeam, team, Loose
	i.Status = Queued
	if to.Agent != "" {
		i.Status = Assigned
		if !to.IsPick {
			i.Binding = Named
		}
	}
	return i
}

// free takes the agent away. Its team or the whole company may take the issue.
func (i *Issue) free() { i.Agent, i.AgentTeam, i.Binding = "", "", Loose }

// Assign gives the issue to an agent or a team.
func (i Issue) Assign(to Assignment, at time.Time) (Issue, event.Event, error) {
	return i.move(Assign, event.IssueAssigned, at, func(next *Issue) { *next = next.assign(to) })
}

// Unassign makes the issue open to the whole company. It fails with fault.InvalidTransition if it is that already.
func (i Issue) Unassign(at time.Time) (Issue, event.Event, error) {
	if i.Status == Queued && i.Agent == "" && i.Team == "" {
		return i, event.Event{}, i.refuse(Unassign)
	}
	return i.move(Unassign, event.IssueRequeued, at, func(next *Issue) {
		next.free()
		next.Team, next.Status = "", Queued
	}, event.F("reason", AfterUnassign))
}

// Start is the lease of an issue to an agent of a team. Its fencing token is the next one.
func (i Issue) Start(agent id.Agent, team id.Team, at time.Time) (Issue, event.Event, error) {
	return i.move(Lease, event.IssueStarted, at, func(next *Issue) {
		if next.Agent != agent {
			next.Binding = Loose
		}
		next.Agent, next.AgentTeam, next.Status = agent, team, Running
		next.FencingToken++
		if next.StartedAt.IsZero() {
			next.StartedAt = at
		}
	})
}

// Complete ends the work of the agent. The result is JSON, or empty.
func (i Issue) Complete(result string, at time.Time) (Issue, event.Event, error) {
	what := event.IssueCompleted
	if i.RequiresReview {
		what = event.IssueSubmitted
	}
	return i.move(Complete, what, at, func(next *Issue) {
		next.Result, next.Error = result, ""
		next.Status = Done
		if next.RequiresReview {
			next.Status = Review
		}
	})
}

// Submit is Complete of a step whose gate has asked for an approval, for which it waits in review.
func (i Issue) Submit(result string, what id.Approval, at time.Time) (Issue, event.Event, error) {
	return i.move(Complete, event.IssueSubmitted, at, func(next *Issue) {
		next.Result, next.Error = result, ""
		next.Status, next.WaitingFor, next.Asking = Review, what, true
	})
}

// Decided returns an issue in review as one that waits for no approval any more.
func (i Issue) Decided() Issue {
	i.WaitingFor = ""
	return i
}

// Failure is why a run ended without a result.
type Failure struct {
	Error   string         // JSON
	IsFinal bool           // no other attempt, however many are left
	After   *time.Duration // when the next attempt may begin, from now, as the agent asks; 0: at once; nil: after RetryDelay
}

// MostRepeats bounds how often one attempt is worked on: when it is given back for that often although its work may have been done, it
// has failed.
const MostRepeats = 3

// FailAttempt ends an attempt that failed. Another follows if there is one left: with the same agent, while that is active.
func (i Issue) FailAttempt(of Failure, agentIsActive bool, at time.Time) (Issue, event.Event, error) {
	return i.failed(Fail, of, AfterFailure, at, func(next *Issue) {
		switch {
		case !agentIsActive:
			next.free()
		case next.Binding == Loose:
			next.Binding = Kept
		}
	})
}

// Expired is the error of a run whose lease ran out.
const Expired = `{"code":"expired","message":"The lease ran out."}`

// ExpireLease ends an attempt whose lease ran out: as FailAttempt, but only who was named keeps the issue.
func (i Issue) ExpireLease(at time.Time) (Issue, event.Event, error) {
	return i.failed(Expire, Failure{Error: Expired}, AfterExpiry, at, (*Issue).loosen)
}

// loosen frees the issue unless a person named its agent.
func (i *Issue) loosen() {
	if i.Binding != Named {
		i.free()
	}
}

func (i Issue) failed(by Action, of Failure, reason string, at time.Time, requeue func(next *Issue)) (Issue, event.Event, error) {
	if i.Attempt >= i.MaxAttempts || of.IsFinal {
		return i.move(by, event.IssueFailed, at, func(next *Issue) {
			next.Status, next.Error = Failed, of.Error
		}, event.F("reason", reason))
	}
	return i.move(by, event.IssueRequeued, at, func(next *Issue) {
		next.Status, next.Error = Queued, of.Error
		delay := RetryDelay(i.ID, i.Attempt)
		if of.After != nil {
			delay = *of.After
		}
		if delay > 0 {
			next.NotBefore, next.Waiting = at.Add(delay), true
		}
		next.Attempt++
		next.Repeats = 0
		requeue(next)
	}, event.F("reason", reason))
}

// ReleaseLease gives the issue back with its attempt, to whom a person named, else to the team or the company.
func (i Issue) ReleaseLease(at time.Time) (Issue, event.Event, error) {
	return i.move(Release, event.IssueRequeued, at, func(next *Issue) {
		next.Status = Queued
		next.loosen()
	}, event.F("reason", AfterRelease))
}

// ReleaseRepeated is ReleaseLease of an attempt whose work may have been done: it fails when that has happened MostRepeats times.
func (i Issue) ReleaseRepeated(of Failure, agentIsActive bool, at time.Time) (Issue, event.Event, error) {
	if i.IsLastRepeat() {
		return i.FailAttempt(of, agentIsActive, at)
	}
	next, released, err := i.ReleaseLease(at)
	next.Repeats++
	return next, released, err
}

// IsLastRepeat reports whether the attempt fails if it is given back once more although its work may have been done.
func (i Issue) IsLastRepeat() bool { return i.Repeats+1 >= MostRepeats }

// HandOff gives the issue to a person. Its agent stays known.
func (i Issue) HandOff(at time.Time, note ...event.Field) (Issue, event.Event, error) {
	return i.move(HandOff, event.IssueHandedOff, at, func(next *Issue) { next.Status = Handoff }, note...)
}

// Accept finishes an issue in review.
func (i Issue) Accept(at time.Time) (Issue, event.Event, error) {
	return i.move(Accept, event.IssueCompleted, at, func(next *Issue) { next.Status = Done })
}

// Reject sends an issue in review back to its agent for one more attempt, whatever MaxAttempts says; or to the queue if that is
// not active.
func (i Issue) Reject(agentIsActive bool, at time.Time, note ...event.Field) (Issue, event.Event, error) {
	return i.move(Reject, event.IssueRejected, at, func(next *Issue) {
		next.Attempt++
		next.Repeats = 0
		next.goBack(agentIsActive)
	}, note...)
}

// RejectAutomatically is Reject without a person. Every attempt costs, so there are no more than MaxAttempts: after the last one the
// issue is handed off, and waits for a person.
func (i Issue) RejectAutomatically(agentIsActive bool, at time.Time, note ...event.Field) (Issue, event.Event, error) {
	if i.Attempt < i.MaxAttempts {
		return i.Reject(agentIsActive, at, note...)
	}
	return i.HandOff(at, note...)
}

// Cancel ends the issue.
func (i Issue) Cancel(at time.Time, note ...event.Field) (Issue, event.Event, error) {
	return i.move(Cancel, event.IssueCancelled, at, func(next *Issue) { next.Status = Cancelled }, note...)
}

// Revoke takes a running issue from its agent because Holdco ended the lease, for a reason such as AfterCompanyArchived. The agent
// and the attempt stay.
func (i Issue) Revoke(reason string, at time.Time) (Issue, event.Event, error) {
	if i.Status != Running {
		return i, event.Event{}, i.refuse(Requeue)
	}
	return i.move(Requeue, event.IssueRequeued, at, func(next *Issue) {
		next.Status = Queued
		if next.Binding == Loose {
			next.Binding = Kept
		}
	}, event.F("reason", reason))
}

// Abandon takes the issue from its agent, which has retired. The team and the attempt stay.
func (i Issue) Abandon(at time.Time) (Issue, event.Event, error) {
	return i.move(Requeue, event.IssueRequeued, at, func(next *Issue) {
		next.free()
		next.Status = Queued
	}, event.F("reason", AfterRetirement))
}

// Recount counts the blockers, of whose states it gets all, and reports whether a number has changed. UpdatedAt stays.
func (i Issue) Recount(states map[id.Issue]Status) (next Issue, isChanged bool) {
	next = i
	next.countBlockers(states)
	if next.OpenBlockers == i.OpenBlockers && next.FailedBlockers == i.FailedBlockers {
		return i, false
	}
	next.Version++
	return next, true
}

// Wake ends the wait for NotBefore if that has come, and reports whether it has. UpdatedAt stays.
func (i Issue) Wake(at time.Time) (Issue, bool) {
	if !i.Waiting || i.NotBefore.After(at) {
		return i, false
	}
	i.Waiting = false
	i.Version++
	return i, true
}

// move changes the issue as an action does, and makes its event.
func (i Issue) move(
	action Action, what event.Type, at time.Time, change func(next *Issue), more ...event.Field,
) (Issue, event.Event, error) {
	if err := i.Allows(action); err != nil {
		return i, event.Event{}, err
	}
	next := i
	next.WaitingFor = ""
	next.Asking = i.Asking && (action == Lease || action == Park || action == Resume)
	change(&next)
	if next.Status.IsFinal() {
		next.FinishedAt, next.Waiting = at, false
	}
	next.changed(at)
	return next, next.event(what, more...), nil
}
