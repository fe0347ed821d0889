package goal

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/issue"
)

// Goal is something that a company wants to reach. New and stores make a Goal, and only its methods change it.
type Goal struct {
	ID      id.Goal
	Company id.Company
	Outline
	TargetDate string // such as 2026-04-11; empty: none
	Status     Status
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int64 // grows by one with every change of the goal itself
}

// Status is a state of a goal.
type Status string

// The states. A goal is closed as Achieved or Abandoned, for good.
const (
	Active    Status = "active"
	Achieved  Status = "achieved"
	Abandoned Status = "abandoned"
)

// Owner returns the company, for generic code.
func (g Goal) Owner() id.Company { return g.Company }

// CurrentVersion returns Version, for generic code.
func (g Goal) CurrentVersion() int64 { return g.Version }

// IsClosed reports whether no new work may be for the goal.
func (g Goal) IsClosed() bool { return g.Status != Active }

// Work is what is done for a goal.
type Work struct {
	Projects []id.Project // of the goal, oldest first
	Issues   issue.Counts // those with the goal, and those of its projects, each once
}

// Shown is a goal with what is done for it.
type Shown struct {
	Goal
	Work
}

// Fields returns the goal as the API shows it.
func (s Shown) Fields() event.Fields {
	projects := make([]string, len(s.Projects))
	for n, project := range s.Projects {
		projects[n] = string(project)
	}
	return event.Fields{
		event.F("id", string(s.ID)),
		event.F("companyId", string(s.Company)),
		event.F("title", s.Title),
		event.F("description", s.Description),
		event.F("targetDate", orNull(s.TargetDate)),
		event.F("status", string(s.Status)),
		event.F("projectIds", projects),
		s.budgetField(),
		progressField(s.Issues),
		event.F("createdAt", instant.Format(s.CreatedAt)),
		event.F("updatedAt", instant.Format(s.UpdatedAt)),
	}
}

// Brief returns what an agent is shown of the goal that it works for.
func (g Goal) Brief() event.Fields {
	return event.Fields{
		event.F("id", string(g.ID)),
		event.F("title", g.Title),
		event.F("description", g.Description),
		event.F("targetDate", orNull(g.TargetDate)),
	}
}

func (s Shown) event(what event.Type) event.Event {
	return event.Of(what, s.Company, string(s.ID), s.Fields())
}

func (s *Shown) changed(at time.Time) {
	s.UpdatedAt = at
	s.Version++
}

// Draft is what was sent to make or change a goal; nil fields were absent. Problems are errors of its form.
type Draft struct {
	OutlineDraft
	TargetDate **string
	Problems   fault.Problems
}

// New makes a goal of a company, for which nothing is done yet. It fails with fault.ValidationFailed, which lists every invalid
// field.
func New(newID id.Goal, company id.Company, draft Draft, at time.Time) (Goal, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	g := Goal{ID: newID, Company: company, Status: Active, CreatedAt: at, UpdatedAt: at, Version: 1}
	g.Outline = outline(draft.OutlineDraft, &problems)
	g = g.withDate(draft.TargetDate, &problems)
	if len(problems) > 0 {
		return Goal{}, event.Event{}, fault.Validation(problems)
	}
	return g, Shown{Goal: g}.event(event.GoalCreated), nil
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
	next.Outline = g.with(patch.OutlineDraft, &problems)
	switch {
	case len(problems) > 0:
		return g, nil, fault.Validation(problems)
	case g.IsClosed():
		return g, nil, issue.GoalClosed()
	}
	shown, updated := event.Update(Shown{g, done}, Shown{next, done}, func(next *Shown) event.Event {
		next.changed(at)
		return next.event(event.GoalUpdated)
	})
	return shown.Goal, updated, nil
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
	next := Shown{g, done}
	next.Status = Status(*sent.Outcome)
	next.changed(at)
	return next.Goal, next.event(event.GoalClosed), nil
}
