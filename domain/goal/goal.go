package goal

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
)

// Goal is something that a company wants to reach. New and stores make a Goal, and only its methods change it.
type Goal struct {
	Purpose[id.Goal]
	TargetDate string // such as 2026-04-11; empty: none
	Status     Status
}

// Status is a state of a goal.
type Status string

// The states. A goal is closed as Achieved or Abandoned, for good.
const (
	Active    Status = "active"
	Achieved  Status = "achieved"
	Abandoned Status = "abandoned"
)

// IsClosed reports whether no new work may be for the goal.
func (g Goal) IsClosed() bool { return g.Status != Active }

func (g Goal) fields(done Work) event.Fields {
	projects := make([]string, len(done.Projects))
	for n, project := range done.Projects {
		projects[n] = string(project)
	}
	return g.shown(done,
		event.Optional("targetDate", g.TargetDate),
		event.F("status", string(g.Status)),
		event.F("projectIds", projects),
	)
}

// Brief returns what an agent is shown of the goal that it works for.
func (g Goal) Brief() event.Fields {
	return append(g.Purpose.Brief(), event.Optional("targetDate", g.TargetDate))
}

// ShownGoal is a goal with what is done for it.
type ShownGoal = Shown[id.Goal, Goal]

// Draft is what was sent to make or change a goal; nil fields were absent.
type Draft struct {
	PurposeDraft
	TargetDate **string
}

// New makes a goal of a company, for which nothing is done yet. It fails with fault.ValidationFailed, which lists every invalid
// field.
func New(newID id.Goal, company id.Company, draft Draft, at time.Time) (Goal, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	g := Goal{Purpose: newPurpose(newID, company, draft.PurposeDraft, at, &problems), Status: Active}
	g = g.withDate(draft.TargetDate, &problems)
	if len(problems) > 0 {
		return Goal{}, event.Event{}, fault.Validation(problems)
	}
	return g, ShownGoal{Of: g}.event(event.GoalCreated), nil
}

func (g Goal) withDate(sent **string, problems *fault.Problems) Goal {
	switch {
	case sent == nil:
	case *sent == nil:
		g.TargetDate = ""
	default:
		g.TargetDate = **sent
		if at, err := time.Parse(time.DateOnly, g.TargetDate); err != nil || at.Year() < 1970 {
			problems.Add(fault.Fieldf("targetDate", fault.InvalidFormat, "targetDate must be a date such as 2026-04-11, of 1970 or later"))
		}
	}
	return g
}

// readOnly are the fields of a goal that no patch can change.
var readOnly = []string{"id", "companyId", "status", "projectIds", "progress", "createdAt", "updatedAt"}

// Apply merges a patch into a goal for which this is done. It returns the next goal and the event to record, or no event when nothing
// changed. It fails with fault.ImmutableField, fault.ValidationFailed, and with fault.GoalClosed.
func (g Goal) Apply(patch Draft, done Work, at time.Time) (Goal, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return g, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := g.withDate(patch.TargetDate, &problems)
	next.Purpose = g.with(patch.PurposeDraft, &problems)
	switch {
	case len(problems) > 0:
		return g, nil, fault.Validation(problems)
	case g.IsClosed():
		return g, nil, issue.GoalClosed()
	}
	shown, updated := event.Update(ShownGoal{g, done}, ShownGoal{next, done}, func(next *ShownGoal) event.Event {
		next.Of.changed(at)
		return next.event(event.GoalUpdated)
	})
	return shown.Of, updated, nil
}

// Closing is what was sent to close a goal; a nil field was absent. Problems are errors of its form.
type Closing struct {
	Outcome  *string
	Problems fault.Problems
}

// Close ends the goal as achieved or abandoned. What is done for it goes on. It fails with fault.ValidationFailed, and with
// fault.InvalidTransition if it is closed already.
func (g Goal) Close(sent Closing, done Work, at time.Time) (Goal, event.Event, error) {
	problems := slices.Clone(sent.Problems)
	switch {
	case sent.Outcome == nil:
		problems.Add(fault.Fieldf("outcome", fault.Required, "outcome is required"))
	case Status(*sent.Outcome) != Achieved && Status(*sent.Outcome) != Abandoned:
		problems.Add(fault.Fieldf("outcome", fault.UnknownValue, "outcome must be one of achieved, abandoned"))
	}
	switch {
	case len(problems) > 0:
		return g, event.Event{}, fault.Validation(problems)
	case g.IsClosed():
		return g, event.Event{}, fault.Transition(string(g.Status), "close", "The goal is closed already.")
	}
	g.Status = Status(*sent.Outcome)
	g.changed(at)
	return g, ShownGoal{g, done}.event(event.GoalClosed), nil
}
