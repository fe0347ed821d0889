package approval

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
)

// verdicts are what decisions lead to.
var verdicts = map[Action]struct {
	status Status
	event  event.Type
}{
	Approve:          {Approved, event.ApprovalApproved},
	ApproveWithEdits: {ApprovedWithEdits, event.ApprovalApproved},
	Deny:             {Denied, event.ApprovalDenied},
}

// Decide decides an open approval. By is who does. It fails with fault.ValidationFailed, or with fault.InvalidTransition when it is
// decided or overdue.
func (a Approval) Decide(verdict Verdict, by event.Actor, at time.Time) (Approval, event.Event, error) {
	edits, note, err := verdict.parse()
	if err != nil {
		return a, event.Event{}, err
	}
	if err := a.allowsOpen(verdict.Action, at); err != nil {
		return a, event.Event{}, err
	}
	a.Edits = edits
	next, decided := a.decide(verdict.Action, string(by), note, at)
	return next, decided, nil
}

func (a Approval) decide(action Action, by, note string, at time.Time) (Approval, event.Event) {
	to := verdicts[action]
	a.Status, a.Note, a.DecidedBy, a.DecidedAt = to.status, note, by, at
	a.Version++
	return a, a.event(to.event)
}

// allowsOpen refuses an action that only an open approval allows: fault.InvalidTransition.
func (a Approval) allowsOpen(action Action, at time.Time) error {
	from := a.Status
	if a.IsOverdue(at) {
		from = Expired
	}
	if from.IsOpen() {
		return nil
	}
	return fault.Transition(string(from), string(action), "An approval that is %s cannot take the action %s.", from, action)
}

// Expire ends an open approval without a decision.
func (a Approval) Expire(at time.Time) (Approval, event.Event) {
	a.Status, a.DecidedAt = Expired, at
	a.Version++
	return a, a.event(event.ApprovalExpired)
}

// Ask adds the comment of a person. On an open approval it asks a question, and leaves the agent time to answer; on any other it is kept.
// It fails with fault.ValidationFailed or fault.TooManyOf.
func (a Approval) Ask(newID id.Comment, note issue.Note, by event.Actor, at time.Time) (Approval, Comment, event.Event, error) {
	made, err := a.newComment(newID, note, by, at)
	if err != nil {
		return a, Comment{}, event.Event{}, err
	}
	if a.Status.IsOpen() && !a.IsOverdue(at) {
		a.Status = AskedQuestion
		if least := at.Add(waitAfterAsking); a.ExpiresAt.Before(least) {
			a.ExpiresAt = least
		}
	}
	return a.commented(made)
}

// Answer adds the comment of the agent, which answers a question if one was asked. It fails as Ask does, and with
// fault.InvalidTransition when the approval is decided or overdue.
func (a Approval) Answer(newID id.Comment, note issue.Note, by event.Actor, at time.Time) (Approval, Comment, event.Event, error) {
	made, err := a.newComment(newID, note, by, at)
	if err == nil {
		err = a.allowsOpen(Answer, at)
	}
	if err != nil {
		return a, Comment{}, event.Event{}, err
	}
	a.Status = Pending
	return a.commented(made)
}

func (a Approval) newComment(newID id.Comment, note issue.Note, by event.Actor, at time.Time) (Comment, error) {
	problems := slices.Clone(note.Problems)
	body := parseText("body", note.Body, true, CommentLength, &problems)
	if len(problems) > 0 {
		return Comment{}, fault.Validation(problems)
	}
	if a.Comments >= MostComments {
		return Comment{}, fault.New(fault.TooManyOf, "An approval can have at most %d comments.", MostComments).With("limit", MostComments)
	}
	return Comment{ID: newID, Company: a.Company, Approval: a.ID, Author: by, Body: body, CreatedAt: at}, nil
}

func (a Approval) commented(made Comment) (Approval, Comment, event.Event, error) {
	a.Comments++
	a.Version++
	return a, made, a.event(event.ApprovalCommented, event.F("comment", made.Fields())), nil
}
