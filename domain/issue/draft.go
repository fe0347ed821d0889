package issue

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Bounds of what clients send.
const (
	TitleLength       = 500
	DescriptionLength = 100_000
	LabelLength       = 50
	MostLabels        = 20
	MostBlockers      = 50
	MostAttempts      = 20
	ResultSize        = 256 << 10            // bytes of JSON
	MostDepth         = 8                    // levels of parents, the root is the first
	LongestDelay      = 365 * 24 * time.Hour // how far NotBefore may be ahead

	defaultAttempts = 3
)

// Draft is what was sent to file an issue; nil fields were absent. Problems are errors of its form.
type Draft struct {
	Title    *string
	Agent    *string // to be named
	Team     *string
	Workflow *string // the id or slug of the workflow whose steps the issue is to go through
	Settings
	Problems fault.Problems
}

// Patch is what was sent to change an issue; nil fields stay as they are. Problems are as in Draft.
type Patch struct {
	Title *string
	Settings
	Problems fault.Problems
}

// Settings are the fields that both a Draft and a Patch may carry. Where a pointer points to nil, null was sent: none.
type Settings struct {
	Description    *string
	Priority       *string
	Parent         **string
	Project        **string
	Goal           **string
	BlockedBy      *[]string
	Labels         *[]string
	PerTask        **money.Number
	MaxAttempts    *int64
	RequiresReview *bool
	DueAt          **time.Time
	NotBefore      **time.Time
}

// New makes an issue of a company, without a number yet. An agent that was named is assigned; of a team an idle agent is picked, if
// there is one. Without a goal it gets that of its project. New fails with fault.ValidationFailed, which lists every invalid field,
// with fault.ProjectArchived, fault.GoalClosed, with fault.DependencyCycle when the parents are too deep, or with an error of others.
func New(newID id.Issue, company id.Company, draft Draft, by event.Actor, others Others, at time.Time) (Issue, error) {
	i := Issue{
		ID: newID, Company: company, Status: Queued, Priority: Normal, Attempt: 1, MaxAttempts: defaultAttempts, RequiresReview: true,
		CreatedBy: by, CreatedAt: at, UpdatedAt: at, Version: 1,
	}
	problems := slices.Clone(draft.Problems)
	if draft.Title == nil {
		problems.Add(fault.Fieldf("title", fault.Required, "title is required"))
	}
	i = i.with(draft.Title, draft.Settings, at, &problems)
	related := relations{others, &problems}
	if err := related.change(Issue{ID: newID}, &i, draft.Settings); err != nil {
		return Issue{}, err
	}
	refusal, err := related.changePurpose(Issue{}, &i, draft.Settings)
	if err != nil {
		return Issue{}, err
	}
	to, err := related.assignment("assignedAgentId", draft.Agent, "assignedTeamId", draft.Team)
	if err == nil {
		err = related.changeWorkflow(&i, draft)
	}
	switch {
	case err != nil:
		return Issue{}, err
	case len(problems) > 0:
		return Issue{}, fault.Validation(problems)
	case refusal != nil:
		return Issue{}, refusal
	case i.IsContainer:
		return i, related.checkDepth(i, 2) //nolint:mnd // its own level and that of its steps
	}
	return i.assign(to), related.checkDepth(i, 1)
}

// Created returns a new issue with its number, and its event.
func (i Issue) Created(number int64) (Issue, event.Event) {
	i.Number = number
	return i, i.event(event.IssueCreated)
}

// AssignmentDraft is what was sent to assign an issue; nil fields were absent. Problems are errors of its form.
type AssignmentDraft struct {
	Agent, Team *string
	Problems    fault.Problems
}

// Parse finds who is to work on an issue: exactly one of an agent and a team. It fails with fault.ValidationFailed or with an error
// of others.
func (d AssignmentDraft) Parse(others Others) (Assignment, error) {
	problems := slices.Clone(d.Problems)
	if d.Agent == nil && d.Team == nil {
		problems.Add(fault.Fieldf("agentId", fault.Required, "agentId or teamId is required"))
	}
	to, err := relations{others, &problems}.assignment("agentId", d.Agent, "teamId", d.Team)
	switch {
	case err != nil:
		return Assignment{}, err
	case len(problems) > 0:
		return Assignment{}, fault.Validation(problems)
	}
	return to, nil
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{
	"id", "number", "companyId", "status", "assignedAgentId", "assignedTeamId", "workflowId", "workflowVersion", "step",
	"openBlockers", "failedBlockers", "attempt", "waitingFor", "result", "error",
	"startedAt", "finishedAt", "retryOf", "createdBy", "createdAt", "updatedAt",
}

// Apply merges a patch. It returns the next issue and the event to record, or no event when nothing changed. It fails with the
// faults of Allows, fault.ImmutableField, fault.DependencyCycle, and those of New.
func (i Issue) Apply(patch Patch, others Others, at time.Time) (Issue, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return i, nil, fault.Immutables(immutable)
	}
	if err := i.checkFixed(patch.Settings); err != nil {
		return i, nil, err
	}
	problems := slices.Clone(patch.Problems)
	next := i.with(patch.Title, patch.Settings, at, &problems)
	related := relations{others, &problems}
	if err := related.change(i, &next, patch.Settings); err != nil {
		return i, nil, err
	}
	refusal, err := related.changePurpose(i, &next, patch.Settings)
	switch {
	case err != nil:
		return i, nil, err
	case len(problems) > 0:
		return i, nil, fault.Validation(problems)
	}
	if err := i.Allows(Update); err != nil {
		return i, nil, err
	}
	if refusal != nil {
		return i, nil, refusal
	}
	if err := related.checkCycles(i, next); err != nil {
		return i, nil, err
	}
	next, updated := event.Update(i, next, func(next *Issue) event.Event {
		next.changed(at)
		return next.event(event.IssueUpdated)
	})
	return next, updated, nil
}

// Again makes the issue that retries a failed or cancelled one: with what the latter had, but for its results and NotBefore. Whom
// a person named is named again, if that agent is still employed. The parent stays unless it, or one above it, is cancelled. The retry
// of a step takes its place; that of a container goes through the steps again. It fails with fault.InvalidTransition,
// fault.ProjectArchived, fault.GoalClosed, or with an error of others.
func (i Issue) Again(newID id.Issue, by event.Actor, others Others, at time.Time) (Issue, error) {
	if err := i.Allows(Retry); err != nil {
		return Issue{}, err
	}
	related := relations{others, new(fault.Problems)}
	if err := related.checkPurpose(i); err != nil {
		return Issue{}, err
	}
	if err := related.mayRetry(i); err != nil {
		return Issue{}, err
	}
	return i.anew(newID, by, related, at)
}

// anew makes the issue that does again what this one was to do.
func (i Issue) anew(newID id.Issue, by event.Actor, related relations, at time.Time) (Issue, error) {
	next := i
	next.ID, next.Number, next.Version, next.FencingToken = newID, 0, 1, 0
	next.RetryOf, next.CreatedBy, next.CreatedAt, next.UpdatedAt = i.ID, by, at, at
	next.Attempt, next.Spent, next.Result, next.Error = 1, 0, "", ""
	next.NotBefore, next.Waiting, next.StartedAt, next.FinishedAt = time.Time{}, false, time.Time{}, time.Time{}
	if i.Parent != "" {
		above, err := related.others.Above(i.Parent)
		if err != nil {
			return Issue{}, err
		}
		if slices.ContainsFunc(above, Ancestor.isCancelled) {
			next.Parent = ""
		}
	}
	if err := related.recount(&next); err != nil {
		return Issue{}, err
	}
	if !i.IsContainer && !i.IsStep() && i.Workflow != "" {
		if found, err := related.others.Workflow(i.Workflow); err != nil {
			return Issue{}, err
		} else if !found.Exists {
			next.Workflow = ""
		}
	}
	next.free()
	next.Team, next.WaitingFor, next.Asking = "", "", false
	to, err := related.again(i)
	return next.assign(to), err
}

// Replace returns the issue blocked by one issue instead of another that it retries, and the event to record. Others supplies the
// states of blockers.
func (i Issue) Replace(old, by id.Issue, others Others, at time.Time) (Issue, *event.Event, error) {
	next := i
	next.BlockedBy = nil
	for _, blocker := range i.BlockedBy {
		if blocker == old {
			blocker = by
		}
		if !slices.Contains(next.BlockedBy, blocker) { // somebody may have added by before
			next.BlockedBy = append(next.BlockedBy, blocker)
		}
	}
	if err := (relations{others: others}).recount(&next); err != nil {
		return i, nil, err
	}
	next, updated := event.Update(i, next, func(next *Issue) event.Event {
		next.changed(at)
		return next.event(event.IssueUpdated)
	})
	return next, updated, nil
}

// with returns i with what was sent that concerns no other issue, and adds what is wrong with it to problems.
func (i Issue) with(title *string, sent Settings, at time.Time, problems *fault.Problems) Issue {
	text.SetName(&i.Title, "title", title, TitleLength, problems)
	text.SetProse(&i.Description, "description", sent.Description, DescriptionLength, problems)
	if sent.Priority != nil {
		i.Priority = Priority(*sent.Priority)
		if _, known := ranks[i.Priority]; !known {
			problems.Add(fault.Fieldf("priority", fault.UnknownValue, "priority must be one of low, normal, high, urgent"))
		}
	}
	if sent.Labels != nil {
		i.Labels = parseLabels(*sent.Labels, problems)
	}
	if sent.PerTask != nil {
		i.PerTask = parseLimit("budget.perTaskUsd", *sent.PerTask, problems)
	}
	if sent.MaxAttempts != nil {
		if *sent.MaxAttempts < 1 || *sent.MaxAttempts > MostAttempts {
			problems.Add(fault.Fieldf("maxAttempts", fault.OutOfRange, "maxAttempts must be from 1 to %d", MostAttempts))
		}
		i.MaxAttempts = int(*sent.MaxAttempts)
	}
	if sent.RequiresReview != nil {
		i.RequiresReview = *sent.RequiresReview
	}
	if sent.DueAt != nil {
		i.DueAt = parseInstant("dueAt", *sent.DueAt, problems)
	}
	if sent.NotBefore != nil {
		i.NotBefore = parseInstant("notBefore", *sent.NotBefore, problems)
		if i.NotBefore.After(at.Add(LongestDelay)) {
			problems.Add(fault.Fieldf("notBefore", fault.OutOfRange, "notBefore must be at most one year ahead"))
		}
		i.Waiting = i.NotBefore.After(at)
	}
	return i
}

// parseInstant truncates an instant to what the API shows, which has years of four digits; none is the zero time.
func parseInstant(path string, sent *time.Time, problems *fault.Problems) time.Time {
	if sent == nil {
		return time.Time{}
	}
	at := instant.Cut(*sent)
	if at.Year() < 1970 || at.Year() > 9999 {
		problems.Add(fault.Fieldf(path, fault.OutOfRange, "%s must be in the years 1970 to 9999", path))
	}
	return at
}

func parseLimit(path string, sent *money.Number, problems *fault.Problems) budget.Limit {
	if sent == nil {
		return budget.Limit{}
	}
	limit, wrong := budget.ParseAmount(path, *sent)
	problems.Add(wrong...)
	return limit
}

// parseLabels parses labels. One that is given twice is kept once.
func parseLabels(sent []string, problems *fault.Problems) (labels []string) {
	if len(sent) > MostLabels {
		problems.Add(fault.Fieldf("labels", fault.TooMany, "labels has %d items; at most %d are allowed", len(sent), MostLabels))
		return nil
	}
	for n, raw := range sent {
		label, wrong := text.Name(fmt.Sprintf("labels.%d", n), raw, LabelLength)
		problems.Add(wrong...)
		if wrong == nil && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels
}
