package approval

import (
	"time"

	"holdco/domain/anyjson"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/run"
)

// Approval is what an agent asked for in one of its runs, and what was decided. New and stores make an Approval, and only its methods
// change it: each returns the next approval and the event to record with it.
type Approval struct {
	ID          id.Approval
	Company     id.Company
	Issue       id.Issue
	Run         id.Run
	Agent       id.Agent
	Team        id.Team // of the agent when it asked
	Status      Status
	ActionName  string // 1 to agent.ActionNameLength characters
	Action      string // what the agent wants to do, 1 to TextLength characters
	Reasoning   string // at most TextLength characters
	Cost        Cost
	SideEffects []string
	IfDenied    string // what it will do then; at most TextLength characters
	Edits       string // JSON, how it may do it; empty: as it asked
	Note        string // of who decided, at most NoteLength characters
	Parked      bool   // the run was ended to wait for the decision
	Comments    int    // how many, MostComments at most
	DecidedBy   string // an actor, or "rule:" and the id of a rule; empty: nobody
	CreatedAt   time.Time
	ExpiresAt   time.Time
	DecidedAt   time.Time // when it was decided or expired; zero: it is open
	Version     int64     // grows by one with every change, comments included; the ETag of the API
}

// Cost is what an agent expects an action to cost.
type Cost struct {
	USD    budget.Limit // not set: it did not say
	Tokens int64        // 0: it did not say
}

// Status is a state of an approval.
type Status string

// The states. Pending and AskedQuestion are open.
const (
	Pending           Status = "pending"        // waits for a decision
	AskedQuestion     Status = "asked_question" // waits for the agent to answer a person's comment; can be decided too
	Approved          Status = "approved"
	ApprovedWithEdits Status = "approved_with_edits" // differs from what was asked for: see Edits
	Denied            Status = "denied"
	Expired           Status = "expired" // nobody decided in time, or nobody waits for it any more; counts as denied
)

// IsOpen reports whether it can still be decided.
func (s Status) IsOpen() bool { return s == Pending || s == AskedQuestion }

// IsApproved reports whether the agent may do it.
func (s Status) IsApproved() bool { return s == Approved || s == ApprovedWithEdits }

// Owner returns the company, for generic code.
func (a Approval) Owner() id.Company { return a.Company }

// CurrentVersion returns Version, for generic code.
func (a Approval) CurrentVersion() int64 { return a.Version }

// IsOverdue reports whether it was not decided in time. It does not expire by that: see Expire.
func (a Approval) IsOverdue(now time.Time) bool { return a.Status.IsOpen() && !now.Before(a.ExpiresAt) }

// Covers reports whether the approval lets a run do an action of this name, any number of times. An approval is for the run in which
// the agent asked, and, if that was parked, for those that the agent has at the same attempt at the issue afterwards: asked is the run
// of the approval.
func (a Approval) Covers(actionName string, asked, now run.Run) bool {
	isSame := a.Run == now.ID
	goesOn := asked.Lease.Reason == run.Parked && asked.Issue == now.Issue && asked.Agent == now.Agent && asked.Attempt == now.Attempt
	return a.Status.IsApproved() && a.ActionName == actionName && (isSame || goesOn)
}

// Fields returns the approval as the API shows it, without its comments.
func (a Approval) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(a.ID)),
		event.F("companyId", string(a.Company)),
		event.F("issueId", string(a.Issue)),
		event.F("runId", string(a.Run)),
		event.F("agentId", string(a.Agent)),
		event.F("status", string(a.Status)),
		event.F("actionName", a.ActionName),
		event.F("action", a.Action),
		event.F("reasoning", a.Reasoning),
		event.F("cost", event.Fields{a.Cost.USD.Field("usd"), event.F("tokens", a.Cost.Tokens)}),
		event.F("sideEffects", append([]string{}, a.SideEffects...)),
		event.F("ifDenied", a.IfDenied),
		event.F("edits", anyjson.Shown(a.Edits)),
		event.F("note", a.Note),
		event.F("parked", a.Parked),
		event.F("commentCount", a.Comments),
		event.Optional("decidedBy", a.DecidedBy),
		event.F("requestedAt", instant.Format(a.CreatedAt)),
		event.F("expiresAt", instant.Format(a.ExpiresAt)),
		event.F("decidedAt", instant.Optional(a.DecidedAt)),
	}
}

// Size is about how many bytes Fields needs for texts.
func (a Approval) Size() int {
	size := len(a.ActionName) + len(a.Action) + len(a.Reasoning) + len(a.IfDenied) + len(a.Edits) + len(a.Note)
	for _, effect := range a.SideEffects {
		size += len(effect)
	}
	return size
}

// Comment is something that was said about an approval. It never changes.
type Comment struct {
	ID        id.Comment
	Company   id.Company
	Approval  id.Approval
	Author    event.Actor
	Body      string // Markdown, 1 to CommentLength characters
	CreatedAt time.Time
}

// Fields returns the comment as the API shows it.
func (c Comment) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(c.ID)),
		event.F("author", string(c.Author)),
		event.F("body", c.Body),
		event.F("createdAt", instant.Format(c.CreatedAt)),
	}
}

func (a Approval) event(what event.Type, more ...event.Field) event.Event {
	return event.Of(what, a.Company, string(a.ID), append(a.Fields(), more...))
}
