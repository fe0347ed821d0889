package issue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
)

const flow = id.Workflow("wf_01h455vb4pex5vsknk084sn02q")

// container is an issue with steps, in a state.
func container(status issue.Status) issue.Issue {
	i := least()
	i.Status, i.Workflow, i.WorkflowVersion, i.IsContainer = status, flow, 3, true
	return i
}

// standing are the steps 1, 2, 3 ... of a container, each in a state.
func standing(states string) (steps []issue.StepState) {
	for n, state := range strings.Fields(states) {
		steps = append(steps, issue.StepState{ID: numbered[id.Issue](n + 10), Place: n + 1, Status: issue.Status(state)})
	}
	return steps
}

func TestAContainerFollowsItsSteps(t *testing.T) {
	t.Parallel()
	const stays = ""
	for _, c := range []struct {
		from  issue.Status
		steps string
		moved int // the step that has moved, from 1 on
		want  issue.Status
		what  event.Type
		more  string
	}{
		{issue.Queued, "running queued queued", 1, issue.Running, event.IssueStarted, ""},
		{issue.Queued, "queued queued queued", 1, stays, "", ""},
		{issue.Queued, "queued cancelled queued", 2, issue.Handoff, event.IssueHandedOff, `"reason":"step_cancelled"`},
		{issue.Queued, "done queued queued", 1, stays, "", ""},
		{issue.Queued, "done done done", 3, issue.Review, event.IssueSubmitted, ""}, // after a review
		{issue.Running, "done queued queued", 1, stays, "", ""},
		{issue.Running, "done running queued", 2, stays, "", ""},
		{issue.Running, "review queued", 1, stays, "", ""},
		{issue.Running, "handoff queued", 1, stays, "", ""},
		{issue.Running, "failed queued queued", 1, issue.Handoff, event.IssueHandedOff, `"reason":"step_failed"`},
		{issue.Running, "running queued cancelled", 3, issue.Handoff, event.IssueHandedOff, `"reason":"step_cancelled"`},
		{issue.Running, "done done done", 3, issue.Review, event.IssueSubmitted, ""},
		{issue.Running, "done", 1, issue.Review, event.IssueSubmitted, ""},
		{issue.Handoff, "done failed queued", 2, stays, "", ""},
		{issue.Handoff, "running cancelled", 1, stays, "", ""},
		{issue.Handoff, "done queued queued", 2, issue.Queued, event.IssueRequeued, `"reason":"step_retried"`},
		{issue.Handoff, "done assigned queued", 2, issue.Queued, event.IssueRequeued, `"reason":"step_retried"`},
		{issue.Handoff, "running queued queued", 3, issue.Running, event.IssueStarted, ""},
		{issue.Review, "done done", 2, stays, "", ""},
		{issue.Done, "done done", 2, stays, "", ""},
		{issue.Cancelled, "cancelled queued", 1, stays, "", ""},
		{issue.Cancelled, "done done", 2, stays, "", ""},
	} {
		for _, reviews := range []bool{true, false} {
			name := fmt.Sprintf("%s, %s, review %t", c.from, c.steps, reviews)
			before := container(c.from)
			before.RequiresReview, before.Error = reviews, `"old"`
			steps := standing(c.steps)
			moved := issue.Issue{
				ID: steps[c.moved-1].ID, Status: steps[c.moved-1].Status, UpdatedAt: later, Result: "7", Error: `"why"`,
			}
			next, happened := before.Follow(moved, steps)
			if c.want == stays {
				if happened != nil || !cmp.Equal(before, next) {
					t.Errorf("%s: %+v", name, next)
				}
				continue
			}
			want, what := before, c.what
			want.Status, want.UpdatedAt, want.Version = c.want, later, before.Version+1
			switch c.want {
			case issue.Review:
				want.Result = "7"
				if !reviews {
					want.Status, want.FinishedAt, what = issue.Done, later, event.IssueCompleted
				}
			case issue.Running:
				want.StartedAt, want.Error = later, ""
			case issue.Queued:
				want.Error = ""
			case issue.Handoff:
				if moved.Status == issue.Failed {
					want.Error = `"why"`
				}
			}
			if diff := cmp.Diff(want, next); diff != "" || happened == nil || happened.Type != what {
				t.Errorf("%s: %+v\n%s", name, happened, diff)
				continue
			}
			if data := shown(happened.Data); !strings.Contains(data, c.more) ||
				c.want == issue.Handoff && !strings.Contains(data, `"stepId":"`+string(moved.ID)+`"`) {
				t.Errorf("%s: %s", name, data)
			}
		}
	}
}

func TestARetriedStepHasLostItsPlace(t *testing.T) {
	t.Parallel()
	steps := standing("failed queued")
	again := issue.StepState{ID: "iss_again", Place: 1, Status: issue.Running}
	steps = append(steps, again)
	if got := issue.Newest(steps); len(got) != 2 || got[1] != again || got[2] != steps[1] {
		t.Errorf("%+v", got)
	}
	if got := issue.Redone(steps); got != steps[1] {
		t.Errorf("%+v is done again", got)
	}
	if got := issue.Redone(append(steps, issue.StepState{ID: "iss_last", Place: 2})); got.ID != "iss_last" {
		t.Errorf("%+v is done again", got)
	}
	next, happened := container(issue.Handoff).Follow(issue.Issue{Status: issue.Running, UpdatedAt: later}, steps)
	if next.Status != issue.Running || happened == nil {
		t.Errorf("%+v", next)
	}
}

func TestAContainerTakesFewActions(t *testing.T) {
	t.Parallel()
	for action, states := range map[issue.Action][]issue.Status{
		issue.Update: {issue.Queued, issue.Running, issue.Review, issue.Handoff}, issue.Accept: {issue.Review},
		issue.Reject: {issue.Review}, issue.Cancel: {issue.Queued, issue.Running, issue.Review, issue.Handoff},
		issue.Retry:  {issue.Cancelled},
		issue.Assign: nil, issue.Unassign: nil, issue.Lease: nil, issue.Complete: nil, issue.Fail: nil, issue.Expire: nil,
		issue.Release: nil, issue.HandOff: nil, issue.Requeue: nil, issue.Park: nil, issue.Resume: nil,
	} {
		for _, status := range issue.Statuses {
			err := container(status).Allows(action)
			if slices.Contains(states, status) {
				if err != nil {
					t.Errorf("%s of %s: %v", action, status, err)
				}
				continue
			}
			checkTransition(t, string(action), err, status, action)
		}
	}
	rejected, happened, err := container(issue.Review).Reject(false, later, note)
	if err != nil || rejected.Status != issue.Queued || rejected.Attempt != 2 || happened.Type != event.IssueRejected {
		t.Errorf("%+v, %v", rejected, err)
	}
	if container(issue.Queued).IsClaimable() {
		t.Error("a container can be leased")
	}
}

func TestAStepHasWhatItsContainerAndItsWorkflowSay(t *testing.T) {
	t.Parallel()
	c := call(issue.Queued)
	c.Agent, c.AgentTeam, c.Binding, c.Team = "", "", issue.Loose, ""
	c.Workflow, c.WorkflowVersion, c.IsContainer, c.Project, c.Goal = flow, 3, true, "prj_1", "gl_1"
	c.NotBefore = c.CreatedAt.Add(time.Hour)
	of := issue.Step{Key: "write", Title: "Write it", Instructions: "300 words.", Team: sales, Gate: issue.ReviewGate}
	want := issue.Issue{
		ID: "iss_1", Company: c.Company, Title: "Write it", Description: c.Description, Status: issue.Queued, Priority: c.Priority,
		Parent: c.ID, Project: "prj_1", Goal: "gl_1", Team: sales, BlockedBy: c.BlockedBy, OpenBlockers: c.OpenBlockers,
		FailedBlockers: c.FailedBlockers, Labels: c.Labels,
		PerTask: c.PerTask, Attempt: 1, MaxAttempts: c.MaxAttempts, RequiresReview: true, DueAt: c.DueAt, NotBefore: c.NotBefore,
		Waiting: true, CreatedBy: c.CreatedBy, Workflow: flow, WorkflowVersion: 3, Container: c.ID, Place: 1, StepKey: "write",
		Gate: issue.ReviewGate, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt, Version: 1,
	}
	first, err := c.NewStep("iss_1", 1, of, true, "")
	if diff := cmp.Diff(want, first); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if made, err := c.NewStep("iss_1", 1, of, false, ""); fault.CodeOf(err) != fault.InvalidTransition || made.ID != "" {
		t.Errorf("a step for a team that is gone: %+v, %v", made, err)
	}
	of.Team = ""
	want.ID, want.Place, want.Team, want.BlockedBy, want.OpenBlockers = "iss_2", 2, "", []id.Issue{"iss_1"}, 1
	want.FailedBlockers = 0
	want.NotBefore, want.Waiting = time.Time{}, false
	second, err := c.NewStep("iss_2", 2, of, false, "iss_1")
	if diff := cmp.Diff(want, second); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for gate, reviews := range map[issue.Gate]bool{issue.NoGate: false, issue.ReviewGate: true, issue.ApprovalGate: true} {
		if got, err := c.NewStep("iss_1", 1, issue.Step{Gate: gate}, false, ""); err != nil || got.RequiresReview != reviews {
			t.Errorf("%s: %+v, %v", gate, got, err)
		}
	}
	if got := shown(want.Fields()); !strings.Contains(got, `"workflowId":null,"workflowVersion":null,`+
		`"step":{"key":"write","number":2,"gate":"review"}`) {
		t.Error(got)
	}
	if got := shown(c.Fields()); !strings.Contains(got, `"workflowId":"`+string(flow)+`","workflowVersion":3,"step":null`) {
		t.Error(got)
	}
	if got := want.BudgetGroup(); !strings.Contains(got, string(flow)) {
		t.Error(got)
	}
}

func TestAnIssueIsFiledWithAWorkflow(t *testing.T) {
	t.Parallel()
	o := staffed()
	o.workflows = map[id.Workflow]issue.Workflow{flow: {Exists: true, Version: 3}}
	draft := issue.Draft{Title: new("April"), Workflow: new(string(flow))}
	draft.NotBefore = new(new(noon.Add(time.Hour)))
	got, err := file(draft, o)
	if err != nil || !got.IsContainer || got.Workflow != flow || got.WorkflowVersion != 3 || got.Status != issue.Queued || got.Waiting {
		t.Errorf("%+v, %v", got, err)
	}
	draft.Team = new(string(sales))
	if _, err := file(draft, o); fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(err)
	}
	draft.Team, draft.Workflow = nil, new("wf_none")
	if _, err := file(draft, o); fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(err)
	}
	draft.Workflow, o.fails = new(string(flow)), "WorkflowCalled"
	if _, err := file(draft, o); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	// The steps are a level of their own.
	o = staffed()
	o.workflows = map[id.Workflow]issue.Workflow{flow: {Exists: true, Version: 3}}
	chain := o.chain(20, 26)
	draft.Parent = new(new(string(chain[5])))
	if _, err := file(draft, o); err != nil {
		t.Error(err)
	}
	draft.Parent = new(new(string(chain[6])))
	if _, err := file(draft, o); fault.CodeOf(err) != fault.DependencyCycle {
		t.Error(err)
	}
}

func TestAStepIsRetriedOnceWhileItsContainerIsOpen(t *testing.T) {
	t.Parallel()
	o := staffed()
	whole := container(issue.Handoff)
	whole.ID = numbered[id.Issue](1)
	step := least()
	step.ID, step.Status, step.Container, step.Parent, step.Place = numbered[id.Issue](2), issue.Failed, whole.ID, whole.ID, 1
	step.Workflow, step.WorkflowVersion, step.StepKey, step.Gate = flow, 3, "write", issue.ApprovalGate
	step.WaitingFor, step.Asking = "apr_1", true
	o.issues = map[id.Issue]issue.Issue{whole.ID: whole, step.ID: step}
	got, err := step.Again("iss_new", "user:eve", o, later)
	if err != nil || got.Container != whole.ID || got.Parent != whole.ID || got.Place != 1 || got.Gate != issue.ApprovalGate ||
		got.Workflow != flow || got.RetryOf != step.ID || got.WaitingFor != "" || got.Asking {
		t.Errorf("%+v, %v", got, err)
	}
	for _, status := range []issue.Status{issue.Done, issue.Cancelled} {
		ended := whole
		ended.Status = status
		o.issues[whole.ID] = ended
		_, err := step.Again("iss_new", "user:eve", o, later)
		checkTransition(t, "a container that is "+string(status), err, issue.Failed, issue.Retry)
	}
	o.issues[whole.ID] = whole
	newer := step
	newer.ID = numbered[id.Issue](3)
	o.issues[newer.ID] = newer
	_, err = step.Again("iss_new", "user:eve", o, later)
	checkTransition(t, "a step that was retried", err, issue.Failed, issue.Retry)
	for _, method := range []string{"Above", "Steps"} {
		o.fails = method
		if _, err := newer.Again("iss_new", "user:eve", o, later); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	o.fails = ""
	done := newer
	done.Status, done.Attempt, done.Result = issue.Done, 2, "7"
	redone, err := done.Redo("iss_new", "user:eve", o, later)
	if err != nil || redone.RetryOf != done.ID || redone.Attempt != 1 || redone.Result != "" || redone.Place != 1 ||
		redone.Status != issue.Queued {
		t.Errorf("%+v, %v", redone, err)
	}
}

func TestAContainerIsRetriedWhileItsWorkflowIsThere(t *testing.T) {
	t.Parallel()
	o := staffed()
	cancelled := container(issue.Cancelled)
	_, err := cancelled.Again("iss_new", "user:eve", o, later)
	checkTransition(t, "without a workflow", err, issue.Cancelled, issue.Retry)
	o.workflows = map[id.Workflow]issue.Workflow{flow: {Exists: true, Version: 9}}
	got, err := cancelled.Again("iss_new", "user:eve", o, later)
	if err != nil || !got.IsContainer || got.WorkflowVersion != 3 || got.Status != issue.Queued {
		t.Errorf("%+v, %v", got, err)
	}
	o.fails = "Workflow"
	if _, err := cancelled.Again("iss_new", "user:eve", o, later); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	// What an agent filed for a step goes on without a workflow that is gone.
	filed := least()
	filed.Status, filed.Workflow = issue.Failed, flow
	if _, err := filed.Again("iss_new", "user:eve", o, later); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	o.fails = ""
	if got, err := filed.Again("iss_new", "user:eve", o, later); err != nil || got.Workflow != flow {
		t.Errorf("%+v, %v", got, err)
	}
	o.workflows = nil
	if got, err := filed.Again("iss_new", "user:eve", o, later); err != nil || got.Workflow != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatAWorkflowDecidesStays(t *testing.T) {
	t.Parallel()
	step := least()
	step.Container, step.Workflow = numbered[id.Issue](5), flow
	whole := container(issue.Queued)
	for name, sent := range map[string]issue.Settings{
		"parentId": {Parent: new(*string)}, "blockedBy": {BlockedBy: &[]string{}}, "requiresReview": {RequiresReview: new(true)},
		"budget": {PerTask: nil}, "maxAttempts": {MaxAttempts: new(int64(2))}, "notBefore": {NotBefore: new(*time.Time)},
		"title": {},
	} {
		for _, c := range []struct {
			of    issue.Issue
			fixed []string
		}{{step, []string{"parentId", "blockedBy", "requiresReview"}}, {whole, []string{"blockedBy", "maxAttempts", "notBefore"}}} {
			_, _, err := c.of.Apply(issue.Patch{Title: new("New"), Settings: sent}, staffed(), later)
			want := fault.Code("")
			if slices.Contains(c.fixed, name) {
				want = fault.ImmutableField
			}
			if fault.CodeOf(err) != want {
				t.Errorf("%s of %+v: %v", name, c.of, err)
			}
		}
	}
}

func TestAStepWaitsInReviewForItsGate(t *testing.T) {
	t.Parallel()
	step := least()
	step.Status, step.Agent, step.AgentTeam, step.RequiresReview, step.Gate = issue.Running, ada, sales, true, issue.ApprovalGate
	got, happened, err := step.Submit("7", "apr_1", later)
	if err != nil || got.Status != issue.Review || got.WaitingFor != "apr_1" || !got.Asking || got.Result != "7" ||
		happened.Type != event.IssueSubmitted || !strings.Contains(shown(happened.Data), `"waitingFor":"apr_1"`) {
		t.Errorf("%+v, %v, %v", got, happened, err)
	}
	_, _, err = got.Accept(later)
	checkTransition(t, "accept", err, issue.Review, issue.Accept)
	_, _, err = got.Reject(true, later)
	checkTransition(t, "reject", err, issue.Review, issue.Reject)
	done, _, err := got.Decided().Accept(later)
	if err != nil || done.Status != issue.Done || done.WaitingFor != "" || !got.EndsApprovals(done) {
		t.Errorf("%+v, %v", done, err)
	}
	back, _, err := got.Decided().Reject(true, later)
	if err != nil || back.Status != issue.Assigned || back.Agent != ada || !got.EndsApprovals(back) {
		t.Errorf("%+v, %v", back, err)
	}
	taken, _, err := got.HandOff(later)
	if err != nil || taken.WaitingFor != "" || !got.EndsApprovals(taken) {
		t.Errorf("%+v, %v", taken, err)
	}
}
