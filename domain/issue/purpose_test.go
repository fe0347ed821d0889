package issue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/id"
	"holdco/domain/issue"
)

// planning is a company with projects 1 to 4 and goals 1 to 3: the first of each are as of call, project 2 pursues goal 2, project 3 is
// archived, and project 4 pursues goal 3, which is closed.
func planning() *office {
	o := staffed()
	o.projects = map[id.Project]issue.Project{
		numbered[id.Project](1): {Exists: true}, numbered[id.Project](2): {Exists: true, Goal: numbered[id.Goal](2)},
		numbered[id.Project](3): {Exists: true, IsArchived: true}, numbered[id.Project](4): {Exists: true, Goal: numbered[id.Goal](3)},
	}
	o.goals = map[id.Goal]issue.Goal{
		numbered[id.Goal](1): {Exists: true}, numbered[id.Goal](2): {Exists: true}, numbered[id.Goal](3): {Exists: true, IsClosed: true},
	}
	return o
}

// part is a project and a goal as they are sent; 0: absent, -1: null.
func part(project, goal int) (sent issue.Settings) {
	switch {
	case project < 0:
		sent.Project = new(*string)
	case project > 0:
		sent.Project = new(new(string(numbered[id.Project](project))))
	}
	switch {
	case goal < 0:
		sent.Goal = new(*string)
	case goal > 0:
		sent.Goal = new(new(string(numbered[id.Goal](goal))))
	}
	return sent
}

func TestAnIssueIsForItsOwnGoalElseForThatOfItsProjectWhenItWasFiled(t *testing.T) {
	t.Parallel()
	const archived, closed = "project_archived", "goal_closed"
	for _, c := range []struct {
		project, goal int
		wants         [2]int // the project and the goal; 0: none
		refused       string
	}{
		{0, 0, [2]int{0, 0}, ""}, {-1, -1, [2]int{0, 0}, ""}, {1, 0, [2]int{1, 0}, ""}, {0, 1, [2]int{0, 1}, ""},
		{2, 0, [2]int{2, 2}, ""}, {2, -1, [2]int{2, 2}, ""}, {2, 1, [2]int{2, 1}, ""}, {4, 1, [2]int{}, closed},
		{3, 0, [2]int{}, archived}, {3, 3, [2]int{}, archived}, {0, 3, [2]int{}, closed}, {4, 0, [2]int{}, closed},
		{2, 3, [2]int{}, closed},
		{9, 0, [2]int{}, "validation_failed projectId:unknown_value"}, {3, 9, [2]int{}, "validation_failed goalId:unknown_value"},
		{9, 9, [2]int{}, "validation_failed projectId:unknown_value goalId:unknown_value"},
	} {
		made, err := file(titled(part(c.project, c.goal)), planning())
		faulttest.Check(t, "a draft", err, c.refused)
		if want := least(); c.refused == "" {
			if c.wants[0] > 0 {
				want.Project = numbered[id.Project](c.wants[0])
			}
			if c.wants[1] > 0 {
				want.Goal = numbered[id.Goal](c.wants[1])
			}
			if diff := cmp.Diff(want, made); diff != "" {
				t.Errorf("%+v: %s", c, diff)
			}
		}
	}
	_, err := file(titled(issue.Settings{Project: new(new("prj_")), Goal: new(new(""))}), planning())
	faulttest.Check(t, "no ids", err, "validation_failed projectId:unknown_value goalId:unknown_value")
}

func TestAnIssueThatMovesToAnotherProjectKeepsItsGoal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		project, goal int
		wants         [2]int
		refused       string
	}{
		{0, 0, [2]int{1, 1}, ""}, {2, 0, [2]int{2, 1}, ""}, {-1, 0, [2]int{0, 1}, ""}, {0, -1, [2]int{1, 0}, ""}, {2, -1, [2]int{2, 0}, ""},
		{-1, 2, [2]int{0, 2}, ""}, {4, 0, [2]int{}, "goal_closed"}, {3, 0, [2]int{}, "project_archived"}, {4, 3, [2]int{}, "goal_closed"},
		{9, 3, [2]int{}, "validation_failed projectId:unknown_value"},
	} {
		next, updated, err := call(issue.Review).Apply(issue.Patch{Settings: part(c.project, c.goal)}, planning(), later)
		faulttest.Check(t, "a patch", err, c.refused)
		if c.refused != "" {
			if updated != nil {
				t.Errorf("%+v: %+v", c, updated)
			}
			continue
		}
		var project id.Project
		var goal id.Goal
		if c.wants[0] > 0 {
			project = numbered[id.Project](c.wants[0])
		}
		if c.wants[1] > 0 {
			goal = numbered[id.Goal](c.wants[1])
		}
		if next.Project != project || next.Goal != goal || (updated == nil) != (c.project == 0 && c.goal == 0) {
			t.Errorf("%+v: %s, %s", c, next.Project, next.Goal)
		}
	}
	// What it is part of already may be over.
	ended := planning()
	ended.projects[numbered[id.Project](1)] = issue.Project{Exists: true, IsArchived: true}
	ended.goals[numbered[id.Goal](1)] = issue.Goal{Exists: true, IsClosed: true}
	if _, updated, err := call(issue.Review).Apply(issue.Patch{Settings: part(1, 1)}, ended, later); updated != nil || err != nil {
		t.Errorf("%+v, %v", updated, err)
	}
	if _, err := call(issue.Failed).Again(numbered[id.Issue](9), "token:tok_2", ended, later); fault.CodeOf(err) != fault.ProjectArchived {
		t.Error(err)
	}
	ended.projects[numbered[id.Project](1)] = issue.Project{Exists: true}
	if _, err := call(issue.Failed).Again(numbered[id.Issue](9), "token:tok_2", ended, later); fault.CodeOf(err) != fault.GoalClosed {
		t.Error(err)
	}
}

func TestAnOpenIssueOfAnArchivedProjectIsOnlyCancelled(t *testing.T) {
	t.Parallel()
	for _, status := range issue.Statuses {
		for _, action := range []issue.Action{issue.Update, issue.Assign, issue.Accept, issue.HandOff, issue.Retry, issue.Cancel} {
			isRefused := action == issue.Retry || !status.IsFinal() && action != issue.Cancel
			if err := call(status).AllowsInArchived(action); (fault.CodeOf(err) == fault.ProjectArchived) != isRefused {
				t.Errorf("%s %s: %v", status, action, err)
			}
		}
	}
}

func TestProgressIsOfAllIssuesButCancelledOnes(t *testing.T) {
	t.Parallel()
	counts := issue.Counts{Of: map[issue.Status]int64{}}
	for n, status := range issue.Statuses {
		counts.Of[status] = 1 << n
	}
	want := `{"tasksTotal":127,"tasksDone":32,"tasksInFlight":28,"tasksQueued":3}`
	if got := string(counts.Progress().Append(nil)); got != want {
		t.Error(got)
	}
	if got := string(issue.Counts{}.Progress().Append(nil)); got != `{"tasksTotal":0,"tasksDone":0,"tasksInFlight":0,"tasksQueued":0}` {
		t.Error(got)
	}
}
