package workflow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/workflow"
)

const (
	acme  = id.Company("cmp_01h455vb4pex5vsknk084sn02q")
	flow  = id.Workflow("wf_01h455vb4pex5vsknk084sn02q")
	sales = id.Team("tm_01h455vb4pex5vsknk084sn02q")
)

var (
	noon     = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	later    = noon.Add(time.Hour)
	noTeam   *string
	noBudget *budget.LimitDraft
)

// others is a company with a workflow of the slug taken, and the team sales.
type others struct{ fails error }

func (o others) HasSlug(slug string) (bool, error) { return slug == "taken", o.fails }

func (o others) Team(which string) (id.Team, bool, error) {
	if which == "sales" || which == string(sales) {
		return sales, true, o.fails
	}
	return "", false, o.fails
}

func step(key string) workflow.StepDraft { return workflow.StepDraft{Key: &key, Title: new("Do it")} }

func steps(drafts ...workflow.StepDraft) *[]workflow.StepDraft { return &drafts }

func newsletter() workflow.Workflow {
	return workflow.Workflow{
		ID: flow, Company: acme, Name: "Newsletter", Slug: "newsletter", Description: "Weekly.", Budget: budget.Of(2_500_000),
		Steps: []issue.Step{
			{Key: "write", Title: "Write it", Instructions: "300 words.", Team: sales, Gate: issue.ReviewGate},
			{Key: "send", Title: "Do it", Gate: issue.NoGate},
		},
		CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
}

func TestAWorkflowHasWhatWasSent(t *testing.T) {
	t.Parallel()
	write := workflow.StepDraft{
		Key: new("write"), Title: new(" Write it "), Instructions: new("300 words."), Team: new(new("sales")), Gate: new("review"),
	}
	send := step("send")
	send.Team = &noTeam
	got, created, err := workflow.New(flow, acme, workflow.Draft{
		Name: new("Newsletter"), Description: new("Weekly."), Budget: new(&budget.LimitDraft{USD: new(money.Number("2.5"))}),
		Steps: steps(write, send),
	}, others{}, noon)
	if diff := cmp.Diff(newsletter(), got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if created.Type != event.WorkflowCreated || created.Subject != (event.Subject{Type: "workflow", ID: string(flow)}) {
		t.Errorf("%+v", created)
	}
	const shown = `{"id":"wf_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q","name":"Newsletter",` +
		`"slug":"newsletter","description":"Weekly.","version":1,"budget":{"usd":2.5},"steps":[` +
		`{"key":"write","title":"Write it","instructions":"300 words.","team":"tm_01h455vb4pex5vsknk084sn02q","gate":"review"},` +
		`{"key":"send","title":"Do it","instructions":"","team":null,"gate":"none"}],` +
		`"createdAt":"2026-04-11T12:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z"}`
	if data := string(created.Data.Append(nil)); data != shown {
		t.Error(data)
	}
}

func TestWhatIsWrongWithAWorkflowIsSaid(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]workflow.StepDraft{step("a")}, workflow.MostSteps+1)
	for name, c := range map[string]struct {
		draft workflow.Draft
		want  string // the fields at fault
	}{
		"nothing":  {workflow.Draft{}, "name required,steps required"},
		"no steps": {workflow.Draft{Name: new("N"), Steps: steps()}, "steps required"},
		"too many": {workflow.Draft{Name: new("N"), Steps: &many}, "steps too_many"},
		"an empty step": {
			workflow.Draft{Name: new("N"), Steps: steps(workflow.StepDraft{})}, "steps.0.key required,steps.0.title required",
		},
		"one key twice": {workflow.Draft{Name: new("N"), Steps: steps(step("a"), step("b"), step("a"))}, "steps.2.key duplicate"},
		"bad steps": {workflow.Draft{Name: new("N"), Steps: steps(step("A b"), step(""), step(strings.Repeat("a", 51)), workflow.StepDraft{
			Key: new("k"), Title: new(""), Instructions: new(strings.Repeat("x", workflow.InstructionsLength+1)), Team: new(new("nobody")),
			Gate: new("door"),
		})}, "steps.0.key invalid_format,steps.1.key invalid_format,steps.2.key invalid_format,steps.3.gate unknown_value," +
			"steps.3.instructions too_long,steps.3.team unknown_value,steps.3.title required"},
		"bad fields": {workflow.Draft{
			Name: new(""), Slug: new("A"), Description: new("\x00"), Budget: new(&budget.LimitDraft{}), Steps: steps(step("a")),
		}, "budget.usd required,description invalid_characters,name required,slug invalid_format"},
		"form": {workflow.Draft{Name: new("N"), Steps: steps(step("a")), Problems: fault.Problems{
			fault.Fieldf("x", fault.UnknownField, "x is unknown"),
		}}, "x unknown_field"},
	} {
		_, _, err := workflow.New(flow, acme, c.draft, others{}, noon)
		if fault.CodeOf(err) != fault.ValidationFailed {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, field := range fault.Of(err).Fields {
			got = append(got, fmt.Sprintf("%s %s", field.Path, field.Code))
		}
		slices.Sort(got)
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func isFault(t *testing.T, name string, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}

func TestTwoWorkflowsHaveDifferentSlugs(t *testing.T) {
	t.Parallel()
	for _, draft := range []workflow.Draft{
		{Name: new("Taken"), Steps: steps(step("a"))}, {Name: new("Other"), Slug: new("taken"), Steps: steps(step("a"))},
	} {
		_, _, err := workflow.New(flow, acme, draft, others{}, noon)
		isFault(t, "new", err, fault.SlugInUse)
	}
	_, _, err := newsletter().Apply(workflow.Draft{Slug: new("taken")}, others{}, later)
	isFault(t, "patch", err, fault.SlugInUse)
	broken := others{errors.New("broken")}
	_, _, err = workflow.New(flow, acme, workflow.Draft{Name: new("N"), Steps: steps(step("a"))}, broken, noon)
	if !errors.Is(err, broken.fails) {
		t.Error(err)
	}
	withTeam := step("a")
	withTeam.Team = new(new("sales"))
	if _, _, err := newsletter().Apply(workflow.Draft{Steps: steps(withTeam)}, broken, later); !errors.Is(err, broken.fails) {
		t.Error(err)
	}
}

func TestAPatchMakesTheNextVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patch    workflow.Draft
		change   func(w *workflow.Workflow)
		previous string
	}{
		"name": {workflow.Draft{Name: new("New")}, func(w *workflow.Workflow) { w.Name = "New" }, `{"name":"Newsletter"`},
		"slug": {workflow.Draft{Slug: new("new")}, func(w *workflow.Workflow) { w.Slug = "new" }, `{"slug":"newsletter"`},
		"description": {
			workflow.Draft{Description: new("")}, func(w *workflow.Workflow) { w.Description = "" }, `{"description":"Weekly."`,
		},
		"no budget": {workflow.Draft{Budget: &noBudget}, func(w *workflow.Workflow) { w.Budget = budget.Limit{} }, `"budget":{"usd":2.5}`},
		"steps": {
			workflow.Draft{Steps: steps(step("a"))},
			func(w *workflow.Workflow) { w.Steps = []issue.Step{{Key: "a", Title: "Do it", Gate: issue.NoGate}} }, `"steps":[`,
		},
	} {
		before := newsletter()
		next, updated, err := before.Apply(c.patch, others{}, later)
		want := newsletter()
		c.change(&want)
		want.UpdatedAt, want.Version = later, 2
		if diff := cmp.Diff(want, next); diff != "" || err != nil || updated == nil || updated.Type != event.WorkflowUpdated {
			t.Errorf("%s: %v, %s", name, err, diff)
			continue
		}
		if got := string(updated.Previous.Append(nil)); !strings.Contains(got, c.previous) {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, patch := range map[string]workflow.Draft{"nothing": {}, "the same": {Name: new("Newsletter"), Slug: new("newsletter")}} {
		next, updated, err := newsletter().Apply(patch, others{}, later)
		if diff := cmp.Diff(newsletter(), next); diff != "" || err != nil || updated != nil {
			t.Errorf("%s: %v, %+v, %s", name, err, updated, diff)
		}
	}
	_, _, err := newsletter().Apply(workflow.Draft{Name: new("")}, others{}, later)
	isFault(t, "a bad name", err, fault.ValidationFailed)
	_, _, err = newsletter().Apply(workflow.Draft{Problems: fault.Problems{
		fault.Fieldf("version", fault.UnknownField, "version is unknown"),
	}}, others{}, later)
	isFault(t, "the version", err, fault.ImmutableField)
}

func TestAWorkflowWithOpenIssuesStays(t *testing.T) {
	t.Parallel()
	for open, want := range map[workflow.OpenIssues]int64{
		{Containers: 3}: 3, {Containers: 3, Others: 7}: 3, {Others: 7}: 7,
	} {
		_, err := newsletter().Delete(open)
		if fault.CodeOf(err) != fault.WorkflowInUse || fault.Of(err).Details["openIssues"] != want {
			t.Errorf("%+v: %v", open, err)
		}
	}
	deleted, err := newsletter().Delete(workflow.OpenIssues{})
	if err != nil || deleted.Type != event.WorkflowDeleted {
		t.Errorf("%+v, %v", deleted, err)
	}
}
