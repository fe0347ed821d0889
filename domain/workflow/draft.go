package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/text"
)

// Draft is what was sent to make or change a workflow; nil fields were absent. A Budget that points to nil is null: none. Problems are
// errors of its form.
type Draft struct {
	Name        *string
	Slug        *string
	Description *string
	Budget      **budget.LimitDraft
	Steps       *[]StepDraft
	Problems    fault.Problems
}

// StepDraft is what was sent of a step; nil fields were absent.
type StepDraft struct {
	Key, Title, Instructions *string

	Team **string // its id or slug; null: none
	Gate *string
}

// Others is what a workflow has to know of its company.
type Others interface {
	// HasSlug reports whether a workflow has a slug.
	HasSlug(slug string) (bool, error)

	// Team returns the team that has an id or a slug, and whether there is one.
	Team(which string) (id.Team, bool, error)
}

// New makes a workflow of a company. Its slug is derived from its name unless one was sent. It fails with fault.ValidationFailed, which
// lists every invalid field, with fault.SlugInUse, or with an error of others.
func New(newID id.Workflow, company id.Company, draft Draft, others Others, at time.Time) (Workflow, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	w := Workflow{ID: newID, Company: company, CreatedAt: at, UpdatedAt: at, Version: 1}
	problems.Require("name", draft.Name != nil)
	problems.Require("steps", draft.Steps != nil)
	w, err := w.with(draft, others, &problems)
	if err != nil {
		return Workflow{}, event.Event{}, err
	}
	if draft.Slug == nil {
		w.Slug = text.Slug(w.Name, "workflow")
	}
	if len(problems) > 0 {
		return Workflow{}, event.Event{}, fault.Validation(problems)
	}
	return w, w.event(event.WorkflowCreated), checkSlug(w.Slug, others)
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{"id", "companyId", "version", "createdAt", "updatedAt"}

// Apply merges a patch. It returns the next workflow and the event to record, or no event when nothing changed. It fails with
// fault.ImmutableField and the faults of New.
func (w Workflow) Apply(patch Draft, others Others, at time.Time) (Workflow, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return w, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next, err := w.with(patch, others, &problems)
	switch {
	case err != nil:
		return w, nil, err
	case len(problems) > 0:
		return w, nil, fault.Validation(problems)
	}
	if next.Slug != w.Slug {
		if err := checkSlug(next.Slug, others); err != nil {
			return w, nil, err
		}
	}
	next, updated := event.Update(w, next, func(next *Workflow) event.Event {
		next.UpdatedAt = at
		next.Version++
		return next.event(event.WorkflowUpdated)
	})
	return next, updated, nil
}

func checkSlug(slug string, others Others) error {
	isTaken, err := others.HasSlug(slug)
	if err == nil && isTaken {
		err = fault.New(fault.SlugInUse, "The slug %q is taken by another workflow of the company.", slug).With("slug", slug)
	}
	return err
}

// with returns w with what was sent, and adds what is wrong with it to problems.
func (w Workflow) with(sent Draft, others Others, problems *fault.Problems) (Workflow, error) {
	text.SetName(&w.Name, "name", sent.Name, NameLength, problems)
	text.SetSlug(&w.Slug, "slug", sent.Slug, problems)
	text.SetProse(&w.Description, "description", sent.Description, DescriptionLength, problems)
	budget.SetLimit(&w.Budget, "budget", sent.Budget, problems)
	if sent.Steps == nil {
		return w, nil
	}
	steps, err := parseSteps(*sent.Steps, others, problems)
	w.Steps = steps
	return w, err
}

func parseSteps(sent []StepDraft, others Others, problems *fault.Problems) ([]issue.Step, error) {
	switch {
	case len(sent) == 0:
		problems.Add(fault.Fieldf("steps", fault.Required, "steps must have at least one item"))
	case len(sent) > MostSteps:
		problems.Add(fault.Fieldf("steps", fault.TooMany, "steps has %d items; at most %d are allowed", len(sent), MostSteps))
		return nil, nil
	}
	steps := make([]issue.Step, len(sent))
	for n, draft := range sent {
		step, err := parseStep(fmt.Sprintf("steps.%d.", n), draft, others, problems)
		if err != nil {
			return nil, err
		}
		if step.Key != "" && slices.ContainsFunc(steps[:n], func(other issue.Step) bool { return other.Key == step.Key }) {
			problems.Add(fault.Fieldf(fmt.Sprintf("steps.%d.key", n), fault.Duplicate, "steps.%d.key is the key of another step", n))
		}
		steps[n] = step
	}
	return steps, nil
}

// parseStep parses a step. Paths of problems start with path.
func parseStep(path string, sent StepDraft, others Others, problems *fault.Problems) (step issue.Step, err error) {
	step.Gate = issue.NoGate
	switch {
	case sent.Key == nil:
		problems.Add(fault.Fieldf(path+"key", fault.Required, "%skey is required", path))
	case !isKey(*sent.Key):
		problems.Add(fault.Fieldf(path+"key", fault.InvalidFormat,
			"%skey must be 1 to %d lower-case letters, digits, hyphens and underscores", path, KeyLength))
	default:
		step.Key = *sent.Key
	}
	problems.Require(path+"title", sent.Title != nil)
	text.SetName(&step.Title, path+"title", sent.Title, issue.TitleLength, problems)
	text.SetProse(&step.Instructions, path+"instructions", sent.Instructions, InstructionsLength, problems)
	if sent.Gate != nil {
		if step.Gate = issue.Gate(*sent.Gate); !slices.Contains(issue.Gates, step.Gate) {
			problems.Add(fault.Fieldf(path+"gate", fault.UnknownValue, "%sgate must be one of none, review, approval", path))
		}
	}
	if sent.Team == nil || *sent.Team == nil {
		return step, nil
	}
	team, found, err := others.Team(**sent.Team)
	if err == nil && !found {
		problems.Add(fault.Fieldf(path+"team", fault.UnknownValue, "%steam must be the id or slug of a team of the company", path))
	}
	step.Team = team
	return step, err
}

func isKey(sent string) bool {
	return sent != "" && len(sent) <= KeyLength && strings.Trim(sent, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
