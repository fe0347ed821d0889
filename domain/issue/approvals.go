package issue

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
)

// Names of actions that an agent may have to get approved, and that Holdco itself refuses without it.
const (
	CreateAction   = "issue.create"
	CompleteAction = "issue.complete"
)

// Ask notes that the agent of the issue has asked for an approval. UpdatedAt stays.
func (i Issue) Ask() (next Issue, isNew bool) {
	if i.Asking {
		return i, false
	}
	i.Asking = true
	i.Version++
	return i, true
}

// EndsApprovals reports whether nobody waits any more for what was asked for on the issue, now that it is next: its run ended otherwise
// than by Park, it was taken from its agent, or it has ended.
func (i Issue) EndsApprovals(next Issue) bool { return i.Asking && !next.Asking }

// ParkFor ends the work of the agent until an approval is decided.
func (i Issue) ParkFor(what id.Approval, at time.Time) (Issue, event.Event, error) {
	return i.move(Park, event.IssueHandedOff, at, func(next *Issue) {
		next.Status, next.WaitingFor, next.Asking = Handoff, what, true
	})
}

// ResumeAfter brings an issue that waits for an approval back to its agent, or to the queue if that is not active.
func (i Issue) ResumeAfter(what id.Approval, agentIsActive bool, at time.Time) (Issue, event.Event, error) {
	if i.WaitingFor != what {
		return i, event.Event{}, i.refuse(Resume)
	}
	return i.move(Resume, event.IssueAssigned, at, func(next *Issue) {
		next.goBack(agentIsActive)
		next.Asking = next.Asking && agentIsActive
	})
}

// goBack gives the issue to the agent that worked on it, or to the queue if that is not active.
func (i *Issue) goBack(agentIsActive bool) {
	if !agentIsActive {
		i.free()
		i.Status = Queued
		return
	}
	i.Status = Assigned
	if i.Binding == Loose {
		i.Binding = Kept
	}
}
