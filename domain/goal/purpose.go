package goal

import (
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Bounds of what clients send.
const (
	TitleLength       = 200
	DescriptionLength = 20_000
	MostProjects      = 500 // of a goal
)

// Purpose is what goals and projects have in common.
type Purpose[I id.ID] struct {
	ID          I
	Company     id.Company
	Title       string // 1 to TitleLength characters
	Description string // Markdown, at most DescriptionLength characters
	Budget      budget.Limit
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Version     int64 // grows by one with every change of the goal or the project itself
}

// Key returns ID, for generic code.
func (p Purpose[I]) Key() I { return p.ID }

// Owner returns the company, for generic code.
func (p Purpose[I]) Owner() id.Company { return p.Company }

// CurrentVersion returns Version, for generic code.
func (p Purpose[I]) CurrentVersion() int64 { return p.Version }

// Limit returns Budget, for generic code.
func (p Purpose[I]) Limit() budget.Limit { return p.Budget }

// HasWords reports whether words are in the title or the description.
func (p Purpose[I]) HasWords(words text.Words) bool { return words.In(p.Title, p.Description) }

func (p *Purpose[I]) changed(at time.Time) {
	p.UpdatedAt = at
	p.Version++
}

// Work is what is done for a goal or a project.
type Work struct {
	Projects []id.Project // of a goal, oldest first
	Issues   issue.Counts // of a goal those with it, and those of its projects, each once
	Spent    money.USD    // by the runs that began while their issue had the goal or the project itself
}

// Kind is Goal or Project.
type Kind[I id.ID] interface {
	Goal | Project
	Key() I
	Owner() id.Company
	CurrentVersion() int64
	Limit() budget.Limit
	HasWords(words text.Words) bool
	fields(done Work) event.Fields
}

// Shown is a goal or a project with what is done for it.
type Shown[I id.ID, T Kind[I]] struct {
	Of T
	Work
}

// Fields returns both as the API shows them.
func (s Shown[I, T]) Fields() event.Fields { return s.Of.fields(s.Work) }

func (s Shown[I, T]) event(what event.Type) event.Event {
	return event.Of(what, s.Of.Owner(), string(s.Of.Key()), s.Fields())
}

// shown are the fields of a goal or a project, of which own are those that only it has.
func (p Purpose[I]) shown(done Work, own ...event.Field) event.Fields {
	return slices.Concat(event.Fields{
		event.F("id", string(p.ID)),
		event.F("companyId", string(p.Company)),
		event.F("title", p.Title),
		event.F("description", p.Description),
	}, own, event.Fields{
		event.F("budget", event.Fields{p.Budget.Field("usd"), event.F("spentUsd", done.Spent)}),
		event.F("progress", done.Issues.Progress()),
		event.F("createdAt", instant.Format(p.CreatedAt)),
		event.F("updatedAt", instant.Format(p.UpdatedAt)),
	})
}

// Brief returns what an agent is shown of the goal or the project that it works for.
func (p Purpose[I]) Brief() event.Fields {
	return event.Fields{event.F("id", string(p.ID)), event.F("title", p.Title), event.F("description", p.Description)}
}

// PurposeDraft is what was sent of a Purpose; nil fields were absent. Where a pointer points to nil, null was sent: none. Problems
// are errors of the form of all that was sent.
type PurposeDraft struct {
	Title       *string
	Description *string
	Budget      **money.Number
	Problems    fault.Problems
}

// newPurpose makes what is common of something new, and adds what is wrong with it to problems.
func newPurpose[I id.ID](newID I, of id.Company, sent PurposeDraft, at time.Time, problems *fault.Problems) Purpose[I] {
	problems.Require("title", sent.Title != nil)
	return Purpose[I]{ID: newID, Company: of, CreatedAt: at, UpdatedAt: at, Version: 1}.with(sent, problems)
}

// with returns p with what was sent, and adds what is wrong with it to problems.
func (p Purpose[I]) with(sent PurposeDraft, problems *fault.Problems) Purpose[I] {
	text.SetName(&p.Title, "title", sent.Title, TitleLength, problems)
	text.SetProse(&p.Description, "description", sent.Description, DescriptionLength, problems)
	budget.SetAmount(&p.Budget, "budget.usd", sent.Budget, problems)
	return p
}
