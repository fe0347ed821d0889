package goal

import (
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
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

// Outline is what goals and projects have in common.
type Outline struct {
	Title       string // 1 to TitleLength characters
	Description string // Markdown, at most DescriptionLength characters
	Budget      budget.Limit
}

// OutlineDraft is what was sent of an Outline; nil fields were absent. Where a pointer points to nil, null was sent: none.
type OutlineDraft struct {
	Title       *string
	Description *string
	Budget      **money.Number
}

// with returns o with what was sent, and adds what is wrong with it to problems.
func (o Outline) with(sent OutlineDraft, problems *fault.Problems) Outline {
	if sent.Title != nil {
		title, wrong := text.Name("title", *sent.Title, TitleLength)
		problems.Add(wrong...)
		o.Title = title
	}
	if sent.Description != nil {
		prose, wrong := text.Prose("description", *sent.Description, DescriptionLength)
		problems.Add(wrong...)
		o.Description = prose
	}
	switch {
	case sent.Budget == nil:
	case *sent.Budget == nil:
		o.Budget = budget.Limit{}
	default:
		limit, wrong := budget.ParseAmount("budget.usd", **sent.Budget)
		problems.Add(wrong...)
		o.Budget = limit
	}
	return o
}

// outline makes the outline of something new.
func outline(sent OutlineDraft, problems *fault.Problems) Outline {
	if sent.Title == nil {
		problems.Add(fault.Fieldf("title", fault.Required, "title is required"))
	}
	return Outline{}.with(sent, problems)
}

func (o Outline) budgetField() event.Field {
	return event.F("budget", event.Fields{o.Budget.Field("usd")})
}

func progressField(of issue.Counts) event.Field { return event.F("progress", of.Progress()) }

func orNull[S ~string](text S) *string {
	if text == "" {
		return nil
	}
	return new(string(text))
}
