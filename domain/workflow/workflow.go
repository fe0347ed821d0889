package workflow

import (
	"cmp"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/issue"
)

// Bounds of what clients send.
const (
	NameLength         = 200
	DescriptionLength  = 20_000
	KeyLength          = 50
	InstructionsLength = 10_000
	MostSteps          = 50
)

// Workflow is a list of steps that an issue goes through. New and stores make a Workflow, and only its methods change it.
type Workflow struct {
	ID          id.Workflow
	Company     id.Company
	Name        string // 1 to NameLength characters
	Slug        string // text.IsSlug; unique in the company
	Description string // Markdown, at most DescriptionLength characters
	Budget      budget.Limit
	Steps       []issue.Step // 1 to MostSteps, with different keys
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Version     int64 // grows by one with every change; issues keep the steps of the version that they were made from
}

// Owner returns the company, for generic code.
func (w Workflow) Owner() id.Company { return w.Company }

// CurrentVersion returns Version, for generic code.
func (w Workflow) CurrentVersion() int64 { return w.Version }

// Fields returns the workflow as the API shows it.
func (w Workflow) Fields() event.Fields {
	steps := make([]event.Fields, len(w.Steps))
	for n, step := range w.Steps {
		steps[n] = event.Fields{
			event.F("key", step.Key),
			event.F("title", step.Title),
			event.F("instructions", step.Instructions),
			event.Optional("team", step.Team),
			event.F("gate", string(step.Gate)),
		}
	}
	return event.Fields{
		event.F("id", string(w.ID)),
		event.F("companyId", string(w.Company)),
		event.F("name", w.Name),
		event.F("slug", w.Slug),
		event.F("description", w.Description),
		event.F("version", w.Version),
		event.F("budget", w.budgetFields()),
		event.F("steps", steps),
		event.F("createdAt", instant.Format(w.CreatedAt)),
		event.F("updatedAt", instant.Format(w.UpdatedAt)),
	}
}

func (w Workflow) budgetFields() any {
	if !w.Budget.IsSet {
		return nil
	}
	return event.Fields{w.Budget.Field("usd")}
}

func (w Workflow) event(what event.Type) event.Event {
	return event.Of(what, w.Company, string(w.ID), w.Fields())
}

// OpenIssues counts the open issues that are charged to a workflow.
type OpenIssues struct {
	Containers int64 // that go through its steps
	Others     int64 // their steps, and what agents have filed below these
}

// Delete refuses to remove a workflow that has open issues: fault.WorkflowInUse. It counts the containers: who ends these ends their
// steps. Without any, it counts what else is open.
func (w Workflow) Delete(open OpenIssues) (event.Event, error) {
	if count := cmp.Or(open.Containers, open.Others); count > 0 {
		return event.Event{}, fault.New(fault.WorkflowInUse, "The workflow has open issues; finish or cancel them first.").
			With("openIssues", count)
	}
	return w.event(event.WorkflowDeleted), nil
}
