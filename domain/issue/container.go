package issue

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// Gate is how a step of a workflow ends once its agent has completed it.
type Gate string

// The gates.
const (
	NoGate       Gate = "none"     // it is done
	ReviewGate   Gate = "review"   // a person accepts or rejects it
	ApprovalGate Gate = "approval" // an approval is asked for, whose decision accepts or rejects it
)

// Gates are all gates.
var Gates = []Gate{NoGate, ReviewGate, ApprovalGate}

// Step is a step of a workflow.
type Step struct {
	Key          string
	Title        string
	Instructions string  // Markdown
	Team         id.Team // whose agents may take it; empty: any of the company
	Gate         Gate
}

// Workflow is what an issue has to know of a workflow.
type Workflow struct {
	Exists  bool
	Version int64 // the current one
}

// StepState is where a step of a container stands.
type StepState struct {
	ID     id.Issue
	Place  int // in the workflow, from 1 on
	Status Status
}

// Newest are the steps that count for their container, by their places: of those with one place, the last retries the others. Steps come
// in the order in which they were made.
func Newest(steps []StepState) map[int]StepState {
	newest := map[int]StepState{}
	for _, step := range steps {
		newest[step.Place] = step
	}
	return newest
}

// Redone is the step that is done again when a review rejects the container of some steps: the one that counts in the last place. Steps
// are as Newest takes them, at least one.
func Redone(steps []StepState) StepState {
	newest := Newest(steps)
	return newest[len(newest)]
}

// IsStep reports whether the issue is a step of a container.
func (i Issue) IsStep() bool { return i.Container != "" }

// allowedOfContainers are the actions on a container, which works by its steps: see Follow.
var allowedOfContainers = map[Action][]Status{
	Update: {Queued, Running, Review, Handoff},
	Accept: {Review},
	Reject: {Review}, // its last step is done again
	Cancel: {Queued, Running, Review, Handoff},
	Retry:  {Cancelled},
}

// NewStep makes a step of a container, without a number yet: the one after before, which is empty for the first. What the container
// waits for, the first step waits for. A step for a team that is not there is refused: anybody could take it
// (fault.InvalidTransition). Only a version that is not the newest any more can have one.
func (i Issue) NewStep(newID id.Issue, place int, step Step, hasTeam bool, before id.Issue) (Issue, error) {
	if step.Team != "" && !hasTeam {
		return Issue{}, fault.Transition(string(Cancelled), string(Retry), "Step %s of version %d of the workflow is for a team that was "+
			"deleted; file an issue that follows the newest version instead.", step.Key, i.WorkflowVersion)
	}
	s := Issue{
		ID: newID, Company: i.Company, Title: step.Title, Description: i.Description, Status: Queued, Priority: i.Priority,
		Parent: i.ID, Team: step.Team, Project: i.Project, Goal: i.Goal, Labels: i.Labels, PerTask: i.PerTask,
		Attempt: 1, MaxAttempts: i.MaxAttempts,
		RequiresReview: step.Gate != NoGate, DueAt: i.DueAt, CreatedBy: i.CreatedBy,
		Workflow: i.Workflow, WorkflowVersion: i.WorkflowVersion, Container: i.ID, Place: place, StepKey: step.Key, Gate: step.Gate,
		CreatedAt: i.CreatedAt, UpdatedAt: i.CreatedAt, Version: 1,
	}
	if before == "" {
		s.BlockedBy, s.OpenBlockers, s.FailedBlockers = i.BlockedBy, i.OpenBlockers, i.FailedBlockers
		s.NotBefore, s.Waiting = i.NotBefore, i.NotBefore.After(i.CreatedAt)
	} else {
		s.BlockedBy, s.OpenBlockers = []id.Issue{before}, 1
	}
	return s, nil
}

// The reasons of events of containers.
const (
	StepFailed    = "step_failed"
	StepCancelled = "step_cancelled"
	StepRetried   = "step_retried"
)

// Standing is the state of a container whose steps stand so, and that was in its own before. It is handed off while a step has failed
// or is cancelled, runs from the first lease on, and ends with its steps, in a review if it requires one. One that was cancelled
// stays so.
func (i Issue) Standing(steps []StepState) Status {
	has, isDone := map[Status]bool{}, true
	for _, step := range Newest(steps) {
		has[step.Status] = true
		isDone = isDone && step.Status == Done
	}
	switch {
	case i.Status == Cancelled, isDone && i.Status == Done:
		return i.Status
	case has[Failed] || has[Cancelled]:
		return Handoff
	case isDone && (i.RequiresReview || i.Status == Review):
		return Review
	case isDone:
		return Done
	case has[Running]:
		return Running
	}
	switch i.Status {
	case Queued, Running:
		return i.Status
	case Handoff:
		return Queued
	}
	return Running // what is in review or done is so by all of its steps
}

// Follow returns an open container as it is after one of its steps has moved, and the event to record; none if it stays as it is:
// see Standing.
func (i Issue) Follow(moved Issue, steps []StepState) (Issue, *event.Event) {
	next := i
	next.Status = i.Standing(steps)
	if next.Status == i.Status || i.Status.IsFinal() {
		return i, nil
	}
	var what event.Type
	var more []event.Field
	switch next.Status {
	case Handoff:
		what = event.IssueHandedOff
		reason := StepCancelled
		if moved.Status == Failed {
			reason, next.Error = StepFailed, moved.Error
		}
		more = []event.Field{event.F("reason", reason), event.F("stepId", string(moved.ID))}
	case Review:
		next.Result, what = moved.Result, event.IssueSubmitted
	case Done:
		next.Result, what = moved.Result, event.IssueCompleted
	case Running:
		next.Error, what = "", event.IssueStarted
	default: // queued
		next.Error, what = "", event.IssueRequeued
		more = []event.Field{event.F("reason", StepRetried)}
	}
	at := moved.UpdatedAt
	if next.Status == Running && next.StartedAt.IsZero() {
		next.StartedAt = at
	}
	if next.Status.IsFinal() {
		next.FinishedAt = at
	}
	next.changed(at)
	happened := next.event(what, more...)
	return next, &happened
}

// Redo makes the step that takes the place of one that is done, because a review has rejected its container.
func (i Issue) Redo(newID id.Issue, by event.Actor, others Others, at time.Time) (Issue, error) {
	return i.anew(newID, by, relations{others, new(fault.Problems)}, at)
}

// mayRetry refuses the retry of a step whose container has ended, or that was retried before: fault.InvalidTransition; likewise of a
// container whose workflow is gone.
func (r relations) mayRetry(i Issue) error {
	switch {
	case i.IsContainer:
		found, err := r.others.Workflow(i.Workflow)
		if err == nil && !found.Exists {
			err = fault.Transition(string(i.Status), string(Retry), "The workflow of the issue was deleted.")
		}
		return err
	case i.IsStep():
		above, err := r.others.Above(i.Container)
		if err != nil {
			return err
		}
		if len(above) == 0 || slices.ContainsFunc(above, Ancestor.isCancelled) || above[0].Status.IsFinal() {
			return fault.Transition(string(i.Status), string(Retry), "The issue that this is a step of has ended; retry that.")
		}
		steps, err := r.others.Steps(i.Container)
		if err == nil && Newest(steps)[i.Place].ID != i.ID {
			err = fault.Transition(string(i.Status), string(Retry), "The step was retried before.")
		}
		return err
	}
	return nil
}

// fixedOfSteps and fixedOfContainers are what the workflow decides, or what steps have got from their container.
var (
	fixedOfSteps      = []string{"parentId", "blockedBy", "requiresReview"}
	fixedOfContainers = []string{"blockedBy", "budget", "maxAttempts", "notBefore"}
)

// checkFixed refuses to change what is fixed of steps and containers: fault.ImmutableField.
func (i Issue) checkFixed(sent Settings) error {
	changes := map[string]bool{
		"parentId": sent.Parent != nil, "blockedBy": sent.BlockedBy != nil, "requiresReview": sent.RequiresReview != nil,
		"budget": sent.PerTask != nil, "maxAttempts": sent.MaxAttempts != nil, "notBefore": sent.NotBefore != nil,
	}
	var fixed []string
	var of string
	switch {
	case i.IsStep():
		fixed, of = fixedOfSteps, "a step"
	case i.IsContainer:
		fixed, of = fixedOfContainers, "an issue that has steps"
	}
	var problems fault.Problems
	for _, name := range fixed {
		if changes[name] {
			problems.Add(fault.Fieldf(name, fault.Immutable, "%s of %s cannot be changed", name, of))
		}
	}
	if len(problems) > 0 {
		return fault.Immutables(problems)
	}
	return nil
}

func (i Issue) stepField() event.Field {
	if !i.IsStep() {
		return event.F("step", nil)
	}
	return event.F("step", event.Fields{
		event.F("key", i.StepKey), event.F("number", i.Place), event.F("gate", string(i.Gate)),
	})
}

// workflowFields are of containers. Steps have the workflow of theirs.
func (i Issue) workflowFields() event.Fields {
	if !i.IsContainer {
		return event.Fields{event.F("workflowId", nil), event.F("workflowVersion", nil)}
	}
	return event.Fields{event.F("workflowId", string(i.Workflow)), event.F("workflowVersion", i.WorkflowVersion)}
}
