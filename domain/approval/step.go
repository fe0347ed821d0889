package approval

import (
	"fmt"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
)

// StepAction is the name of the action for which the gate of a step asks.
const StepAction = "workflow.step"

// OfStep makes the approval that the gate of a step asks for, which a run of an agent of a team has completed.
func OfStep(newID id.Approval, step issue.Issue, by run.Run, of id.Team, at time.Time) (Approval, event.Event) {
	a := Approval{
		ID: newID, Company: by.Company, Issue: by.Issue, Run: by.ID, Agent: by.Agent, Team: of, Status: Pending,
		ActionName: StepAction, Action: fmt.Sprintf("Finish the step %q.", step.Title),
		IfDenied:  "The step is done again, with the note.",
		CreatedAt: at, ExpiresAt: at.Add(LongestWait), Version: 1,
	}
	return a, a.event(event.ApprovalRequested)
}

// IsAwaited reports whether an issue may wait for the approval without a run: see issue.Issue.WaitingFor.
func (a Approval) IsAwaited() bool { return a.Parked || a.ActionName == StepAction }

// Rejection is the note with which a step is rejected because its approval was not given.
func (a Approval) Rejection() issue.Note {
	note := a.Note
	switch {
	case note != "":
	case a.Status == Expired:
		note = "Nobody decided in time."
	default:
		note = "The approval was denied."
	}
	return issue.Note{Body: &note}
}

// Reject ends the review of a step because its approval was not given. If a person denied it, the step is done again, whatever its
// attempts; after a rule's denial or an expiry only while attempts are left. The note is Rejection.
func (a Approval) Reject(step issue.Issue, agentIsActive bool, note ...event.Field) (issue.Issue, event.Event, error) {
	if a.isByPerson() {
		return step.Decided().Reject(agentIsActive, a.DecidedAt, note...)
	}
	return step.Decided().RejectAutomatically(agentIsActive, a.DecidedAt, note...)
}
