package goal_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
)

const (
	acme     = id.Company("cmp_01h455vb4pex5vsknk084sn02q")
	sales    = id.Team("tm_01h455vb4pex5vsknk084sn02q")
	gone     = id.Team("tm_01h455vb4pex5vsknk084sn02r") // a team that was deleted
	known    = id.Goal("gl_01h455vb4pex5vsknk084sn02q")
	launch   = id.Project("prj_01h455vb4pex5vsknk084sn02q")
	finished = id.Goal("gl_01h455vb4pex5vsknk084sn02r") // is closed
	crowded  = id.Goal("gl_01h455vb4pex5vsknk084sn02s") // has all the projects that it may have
)

var (
	noon  = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)
)

// done is what is done for a goal, or in a project.
var done = goal.Work{
	Projects: []id.Project{launch}, Issues: issue.Counts{Of: map[issue.Status]int64{issue.Done: 2, issue.Review: 1}}, Spent: 1_500_000,
}

func aim() goal.Goal {
	return goal.Goal{
		Purpose: goal.Purpose[id.Goal]{
			ID: known, Company: acme, Title: "Grow", Description: "*All*", Budget: budget.Of(2_500_000),
			CreatedAt: noon, UpdatedAt: noon, Version: 3,
		},
		TargetDate: "2026-12-31", Status: goal.Active,
	}
}

func project() goal.Project {
	return goal.Project{
		Purpose: goal.Purpose[id.Project]{
			ID: launch, Company: acme, Title: "Launch", Description: "*All*", Budget: budget.Of(1),
			CreatedAt: noon, UpdatedAt: noon, Version: 3,
		},
		Goal: known, OwnerTeam: sales, Status: goal.Underway,
	}
}

func previous(of *event.Event) string {
	kept := slices.DeleteFunc(slices.Clone(of.Previous), func(f event.Field) bool { return f.Name == "updatedAt" })
	return string(kept.Append(nil))
}

func TestAGoalAndAProjectHaveWhatWasSent(t *testing.T) {
	t.Parallel()
	purpose := goal.PurposeDraft{
		Title: new(" Grow "), Description: new("*All*"), Budget: new(new(money.Number("2.5"))),
	}
	made, created, err := goal.New(known, acme, goal.Draft{PurposeDraft: purpose, TargetDate: new(new("2026-12-31"))}, noon)
	want := aim()
	want.Version = 1
	if diff := cmp.Diff(want, made); diff != "" || err != nil || created.Type != event.GoalCreated || created.Company != acme ||
		created.Subject != (event.Subject{Type: "goal", ID: string(known)}) {
		t.Errorf("%v, %+v %s", err, created.Subject, diff)
	}
	const shown = `{"id":"gl_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q","title":"Grow",` +
		`"description":"*All*","targetDate":"2026-12-31","status":"active","projectIds":[],"budget":{"usd":2.5,"spentUsd":0},` +
		`"progress":{"tasksTotal":0,"tasksDone":0,"tasksInFlight":0,"tasksQueued":0},` +
		`"createdAt":"2026-04-11T12:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z"}`
	if got := string(created.Data.Append(nil)); got != shown {
		t.Error(got)
	}
	least, _, err := goal.New(known, acme, goal.Draft{
		PurposeDraft: goal.PurposeDraft{Title: new("Grow"), Budget: new(*money.Number)}, TargetDate: new(*string),
	}, noon)
	if least.TargetDate != "" || least.Budget.IsSet || err != nil {
		t.Errorf("%+v, %v", least, err)
	}

	placed, happened, err := goal.NewProject(launch, acme, goal.ProjectDraft{
		PurposeDraft: goal.PurposeDraft{Title: new("Launch")}, Goal: new(new(string(known))), OwnerTeam: new(new(string(sales))),
	}, others{}, noon)
	if placed.Goal != known || placed.OwnerTeam != sales || placed.Version != 1 || err != nil || happened.Type != event.ProjectCreated ||
		happened.Subject != (event.Subject{Type: "project", ID: string(launch)}) {
		t.Errorf("%+v, %v", placed, err)
	}
	const shownProject = `{"id":"prj_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q",` +
		`"title":"Launch","description":"","goalId":"gl_01h455vb4pex5vsknk084sn02q","ownerTeamId":"tm_01h455vb4pex5vsknk084sn02q",` +
		`"status":"active","budget":{"usd":null,"spentUsd":0},` +
		`"progress":{"tasksTotal":0,"tasksDone":0,"tasksInFlight":0,"tasksQueued":0},` +
		`"createdAt":"2026-04-11T12:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z"}`
	if got := string(happened.Data.Append(nil)); got != shownProject {
		t.Error(got)
	}
}

func TestWhatIsWrongWithAGoalIsAllTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		draft goal.Draft
		want  string
	}{
		"nothing": {goal.Draft{}, "validation_failed title:required"},
		"everything": {goal.Draft{
			PurposeDraft: goal.PurposeDraft{
				Title: new(strings.Repeat("x", 201)), Description: new(strings.Repeat("x", 20_001)), Budget: new(new(money.Number("-1"))),
				Problems: fault.Problems{fault.Fieldf("colour", fault.UnknownField, "colour")},
			},
			TargetDate: new(new("2026-02-30")),
		}, "validation_failed colour:unknown_field title:too_long description:too_long budget.usd:out_of_range targetDate:invalid_format"},
		"a date of before": {goal.Draft{PurposeDraft: goal.PurposeDraft{Title: new("x")}, TargetDate: new(new("1969-12-31"))},
			"validation_failed targetDate:invalid_format"},
		"an instant": {goal.Draft{PurposeDraft: goal.PurposeDraft{Title: new("x")}, TargetDate: new(new("2026-12-31T00:00:00Z"))},
			"validation_failed targetDate:invalid_format"},
	} {
		_, _, err := goal.New(known, acme, c.draft, noon)
		faulttest.Check(t, name, err, c.want)
		if _, updated, err := aim().Apply(c.draft, done, later); name != "nothing" && (err == nil || updated != nil) {
			t.Errorf("%s: %+v", name, updated)
		}
	}
}

func TestAPatchOfAGoalChangesWhatItNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patch    goal.Draft
		change   func(to *goal.Goal)
		previous string
	}{
		"nothing": {patch: goal.Draft{}},
		"the same": {patch: goal.Draft{
			PurposeDraft: goal.PurposeDraft{Title: new("Grow"), Budget: new(new(money.Number("2.5")))}, TargetDate: new(new("2026-12-31")),
		}},
		"title": {goal.Draft{PurposeDraft: goal.PurposeDraft{Title: new("Own")}},
			func(g *goal.Goal) { g.Title = "Own" }, `{"title":"Grow"}`},
		"no date": {goal.Draft{TargetDate: new(*string)}, func(g *goal.Goal) { g.TargetDate = "" }, `{"targetDate":"2026-12-31"}`},
		"no budget": {goal.Draft{PurposeDraft: goal.PurposeDraft{Budget: new(*money.Number)}},
			func(g *goal.Goal) { g.Budget = budget.Limit{} }, `{"budget":{"usd":2.5,"spentUsd":1.5}}`},
	} {
		next, updated, err := aim().Apply(c.patch, done, later)
		want := aim()
		if c.change != nil {
			c.change(&want)
			want.UpdatedAt, want.Version = later, 4
		}
		if diff := cmp.Diff(want, next); diff != "" || err != nil || (updated == nil) != (c.change == nil) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if updated != nil && (updated.Type != event.GoalUpdated || previous(updated) != c.previous ||
			!strings.Contains(string(updated.Data.Append(nil)), `"projectIds":["`+string(launch)+`"]`)) {
			t.Errorf("%s: %s %s", name, updated.Type, previous(updated))
		}
	}
	_, _, err := aim().Apply(goal.Draft{PurposeDraft: goal.PurposeDraft{
		Problems: fault.Problems{
			fault.Fieldf("status", fault.UnknownField, "status"), fault.Fieldf("progress", fault.UnknownField, "progress"),
		},
	}}, done, later)
	faulttest.Check(t, "read-only", err, "immutable_field status:immutable progress:immutable")
}

func TestAGoalIsClosedOnce(t *testing.T) {
	t.Parallel()
	for _, outcome := range []goal.Status{goal.Achieved, goal.Abandoned} {
		next, closed, err := aim().Close(goal.Closing{Outcome: new(string(outcome))}, done, later)
		if next.Status != outcome || next.Version != 4 || next.UpdatedAt != later || err != nil || closed.Type != event.GoalClosed ||
			!strings.Contains(string(closed.Data.Append(nil)), `"tasksDone":2`) {
			t.Errorf("%+v, %v", next, err)
		}
		_, _, err = next.Close(goal.Closing{Outcome: new("achieved")}, done, later)
		faulttest.Check(t, "again", err, "invalid_transition")
		_, updated, err := next.Apply(goal.Draft{PurposeDraft: goal.PurposeDraft{Title: new("Own")}}, done, later)
		if fault.CodeOf(err) != fault.GoalClosed || updated != nil {
			t.Errorf("%+v, %v", updated, err)
		}
	}
	for want, sent := range map[string]goal.Closing{
		"validation_failed outcome:required":      {},
		"validation_failed outcome:unknown_value": {Outcome: new("active")},
	} {
		_, _, err := aim().Close(sent, done, later)
		faulttest.Check(t, want, err, want)
	}
}

// others is a company with one team, and goals of which one is closed and one has all the projects that it may have.
type others struct{ fails string }

var errBroken = errors.New("broken")

func (o others) Goal(which id.Goal) (found goal.Goal, projects int, exists bool, err error) {
	if o.fails == "Goal" {
		return found, 0, false, errBroken
	}
	found = goal.Goal{Purpose: goal.Purpose[id.Goal]{ID: which}, Status: goal.Active}
	switch which {
	case finished:
		found.Status = goal.Achieved
	case crowded:
		return found, goal.MostProjects, true, nil
	case known:
	default:
		return goal.Goal{}, 0, false, nil
	}
	return found, goal.MostProjects - 1, true, nil
}

func (o others) HasTeam(which id.Team) (bool, error) {
	if o.fails == "HasTeam" {
		return false, errBroken
	}
	return which == sales, nil
}

func TestWhatIsWrongWithAProjectIsAllTold(t *testing.T) {
	t.Parallel()
	to := func(which id.Goal) **string { return new(new(string(which))) }
	for name, c := range map[string]struct {
		draft goal.ProjectDraft
		want  string
	}{
		"everything": {goal.ProjectDraft{
			PurposeDraft: goal.PurposeDraft{Title: new(" ")}, Goal: to("gl_1"), OwnerTeam: new(new(string(gone))),
		}, "validation_failed title:required goalId:unknown_value ownerTeamId:unknown_value"},
		"a goal with too many": {goal.ProjectDraft{Goal: to(crowded)}, "validation_failed goalId:too_many"},
		"a closed goal":        {goal.ProjectDraft{Goal: to(finished)}, "goal_closed"},
		"a closed goal and a wrong team": {goal.ProjectDraft{Goal: to(finished), OwnerTeam: new(new(""))},
			"validation_failed ownerTeamId:unknown_value"},
	} {
		_, updated, err := project().Apply(c.draft, done, others{}, later)
		faulttest.Check(t, name, err, c.want)
		if c.draft.Title == nil {
			c.draft.Title = new("Launch")
		}
		_, _, failed := goal.NewProject(launch, acme, c.draft, others{}, noon)
		faulttest.Check(t, name, failed, c.want)
		if updated != nil {
			t.Errorf("%s: %+v", name, updated)
		}
	}
	both := goal.ProjectDraft{PurposeDraft: goal.PurposeDraft{Title: new("x")}, Goal: to(finished), OwnerTeam: new(new(string(gone)))}
	for _, fails := range []string{"Goal", "HasTeam"} {
		if _, _, err := goal.NewProject(launch, acme, both, others{fails}, noon); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", fails, err)
		}
	}
}

func TestAPatchOfAProjectChangesWhatItNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patch    goal.ProjectDraft
		change   func(to *goal.Project)
		previous string
	}{
		"nothing": {patch: goal.ProjectDraft{}},
		"what it has, though it is not there": {patch: goal.ProjectDraft{
			Goal: new(new(string(finished))), OwnerTeam: new(new(string(gone))),
		}},
		"another goal": {goal.ProjectDraft{Goal: new(new(string(known)))}, func(p *goal.Project) { p.Goal = known },
			`{"goalId":"` + string(finished) + `"}`},
		"nobody's": {goal.ProjectDraft{Goal: new(*string), OwnerTeam: new(*string)}, func(p *goal.Project) { p.Goal, p.OwnerTeam = "", "" },
			`{"goalId":"` + string(finished) + `","ownerTeamId":"` + string(gone) + `"}`},
	} {
		before := project()
		before.Goal, before.OwnerTeam = finished, gone
		next, updated, err := before.Apply(c.patch, done, others{}, later)
		want := before
		if c.change != nil {
			c.change(&want)
			want.UpdatedAt, want.Version = later, 4
		}
		if diff := cmp.Diff(want, next); diff != "" || err != nil || (updated == nil) != (c.change == nil) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if updated != nil && (updated.Type != event.ProjectUpdated || previous(updated) != c.previous) {
			t.Errorf("%s: %s %s", name, updated.Type, previous(updated))
		}
	}
	_, _, err := project().Apply(goal.ProjectDraft{PurposeDraft: goal.PurposeDraft{
		Problems: fault.Problems{fault.Fieldf("status", fault.UnknownField, "status")},
	}}, done, others{}, later)
	faulttest.Check(t, "read-only", err, "immutable_field status:immutable")
}

func TestAProjectIsArchivedOnceItHasNoOpenIssuesOrTheseAreToBeCancelled(t *testing.T) {
	t.Parallel()
	ended := goal.Work{Issues: issue.Counts{Of: map[issue.Status]int64{issue.Done: 2, issue.Failed: 1}}}
	for name, c := range map[string]struct {
		sent goal.Archiving
		done goal.Work
		want string
	}{
		"nothing is open":   {goal.Archiving{}, ended, ""},
		"open":              {goal.Archiving{}, done, "project_not_empty"},
		"open, and to stay": {goal.Archiving{CancelOpenIssues: new(false)}, done, "project_not_empty"},
		"open, to be ended": {goal.Archiving{CancelOpenIssues: new(true)}, done, ""},
		"a field is unknown": {
			goal.Archiving{Problems: fault.Problems{fault.Fieldf("x", fault.UnknownField, "x")}}, ended,
			"validation_failed x:unknown_field",
		},
	} {
		next, archived, err := project().Archive(c.sent, c.done.Issues.Open(), c.done, later)
		faulttest.Check(t, name, err, c.want)
		if c.want != "" {
			continue
		}
		if next.Status != goal.Archived || next.Version != 4 || next.UpdatedAt != later || archived.Type != event.ProjectArchived {
			t.Errorf("%s: %+v", name, next)
		}
		_, _, err = next.Archive(c.sent, c.done.Issues.Open(), c.done, later)
		faulttest.Check(t, "again", err, "invalid_transition")
		_, _, err = next.Apply(goal.ProjectDraft{Goal: new(new(string(finished)))}, c.done, others{}, later)
		faulttest.Check(t, "a patch", err, "project_archived")
	}
}

func TestAnAgentIsToldWhatItsWorkIsFor(t *testing.T) {
	t.Parallel()
	want := `{"id":"` + string(known) + `","title":"Grow","description":"*All*","targetDate":"2026-12-31"}`
	if got := string(aim().Brief().Append(nil)); got != want {
		t.Error(got)
	}
	if got := string(project().Brief().Append(nil)); got != `{"id":"`+string(launch)+`","title":"Launch","description":"*All*"}` {
		t.Error(got)
	}
}
