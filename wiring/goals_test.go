package wiring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// apiProgress is a progress as the API shows it.
type apiProgress struct{ TasksTotal, TasksDone, TasksInFlight, TasksQueued int }

// apiPurposeBudget is the budget of a goal or a project as the API shows it.
type apiPurposeBudget struct {
	Usd      *json.Number
	SpentUsd json.Number
}

// apiGoal is a goal as the API shows it.
type apiGoal struct {
	ID, CompanyID, Title, Description, Status, CreatedAt, UpdatedAt string

	TargetDate *string
	ProjectIDs []string
	Budget     apiPurposeBudget
	Progress   apiProgress
}

func (g apiGoal) path() string { return "/v1/companies/" + g.CompanyID + "/goals/" + g.ID }

// apiProject is a project as the API shows it.
type apiProject struct {
	ID, CompanyID, Title, Description, Status, CreatedAt, UpdatedAt string

	GoalID, OwnerTeamID *string
	Budget              apiPurposeBudget
	Progress            apiProgress
}

func (p apiProject) path() string { return "/v1/companies/" + p.CompanyID + "/projects/" + p.ID }

// aims makes a goal of a company.
func (s *instance) aims(t *testing.T, in company, title string) apiGoal {
	t.Helper()
	answer := s.In(t).Post(in.path()+"/goals", `{"title":"`+title+`"}`)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[apiGoal](t, answer)
}

// plans makes a project of a company.
func (s *instance) plans(t *testing.T, in company, members string) apiProject {
	t.Helper()
	answer := s.In(t).Post(in.path()+"/projects", `{"title":"Launch"`+members+`}`)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[apiProject](t, answer)
}

func inGoal(of apiGoal) string { return `,"goalId":"` + of.ID + `"` }

func inProject(of apiProject) string { return `,"projectId":"` + of.ID + `"` }

// progress reads the progress of a goal or a project.
func (s *instance) progress(t *testing.T, path string) apiProgress {
	t.Helper()
	answer := s.In(t).Get(path)
	answer.Is(t, http.StatusOK, "")
	return resttest.Data[struct{ Progress apiProgress }](t, answer).Progress
}

func TestAGoalHasItsProjectsAndItsProgress(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		grow, save := s.aims(t, acme, "Grow"), s.aims(t, acme, "Save")
		launch, cut := s.plans(t, acme, inGoal(grow)), s.plans(t, acme, inGoal(save))
		loose := s.plans(t, acme, "")
		inLaunch := s.file(t, acme, inProject(launch)) // for grow
		s.file(t, acme, inProject(launch)+inGoal(save))
		s.file(t, acme, inGoal(grow))
		s.file(t, acme, inProject(cut))
		s.file(t, acme, inProject(loose))
		s.file(t, acme, "")
		if inLaunch.GoalID == nil || *inLaunch.GoalID != grow.ID || inLaunch.ProjectID == nil || *inLaunch.ProjectID != launch.ID {
			t.Errorf("%+v", inLaunch)
		}
		is := func(what string, path string, want apiProgress) {
			t.Helper()
			if diff := cmp.Diff(want, s.progress(t, path)); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		is("grow", grow.path(), apiProgress{TasksTotal: 3, TasksQueued: 3})
		is("save", save.path(), apiProgress{TasksTotal: 2, TasksQueued: 2})
		is("launch", launch.path(), apiProgress{TasksTotal: 2, TasksQueued: 2})

		before := s.Get(grow.path())
		lease := ada.claim(t, "")
		if lease.Issue.ID != inLaunch.ID || lease.Context.Goal == nil || lease.Context.Goal.ID != grow.ID ||
			lease.Context.Project == nil || lease.Context.Project.Title != "Launch" {
			t.Errorf("%+v", lease.Context)
		}
		is("grow", grow.path(), apiProgress{TasksTotal: 3, TasksInFlight: 1, TasksQueued: 2})
		if send(s.In(t), "GET", grow.path(), "", "If-None-Match", before.Header.Get("ETag")).Status != 200 {
			t.Error("a progress that has changed is not sent again")
		}
		ada.ends(t, lease, "complete", "")
		s.moved(t, inLaunch, "accept", "")
		is("grow", grow.path(), apiProgress{TasksTotal: 3, TasksDone: 1, TasksQueued: 2})
		after := s.Get(grow.path())
		send(s.In(t), "GET", grow.path(), "", "If-None-Match", after.Header.Get("ETag")).Is(t, 304, "")

		// The tag of before is for the same version of the goal.
		send(s.In(t), "PATCH", grow.path(), `{"description":"A lot."}`, "If-Match", before.Header.Get("ETag")).Is(t, 200, "")
		late := send(s.In(t), "PATCH", grow.path(), `{"description":"More."}`, "If-Match", after.Header.Get("ETag"))
		late.Is(t, 412, "precondition_failed")

		// What is in a project counts for the goal that the project has now; what has a goal itself, for that too.
		s.Patch(launch.path(), `{"goalId":"`+save.ID+`"}`).Is(t, 200, "")
		is("grow", grow.path(), apiProgress{TasksTotal: 2, TasksDone: 1, TasksQueued: 1})
		is("save", save.path(), apiProgress{TasksTotal: 3, TasksDone: 1, TasksQueued: 2})
		seen := resttest.Data[apiGoal](t, s.Get(save.path()))
		if diff := cmp.Diff([]string{launch.ID, cut.ID}, seen.ProjectIDs); diff != "" {
			t.Error(diff)
		}
		if issue := s.look(t, inLaunch); *issue.GoalID != grow.ID {
			t.Errorf("%+v", issue)
		}
		listed := resttest.Data[[]apiGoal](t, s.Get(acme.path()+"/goals"))
		if len(listed) != 2 || listed[0].ID != save.ID || listed[0].Progress != (apiProgress{TasksTotal: 3, TasksDone: 1, TasksQueued: 2}) {
			t.Errorf("%+v", listed)
		}
		for query, want := range map[string]int{
			"goal=" + grow.ID: 2, "goal=" + save.ID: 2, "project=" + launch.ID: 2, "project=" + loose.ID: 1,
			"project=" + launch.ID + "&goal=" + save.ID: 1, "project=" + launch.ID + "&status=done": 1, "": 6,
		} {
			found := resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?"+query))
			counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?"+query))
			if len(found) != want || counts.Total != want || counts.Truncated {
				t.Errorf("%s: %d issues, counted %+v; want %d", query, len(found), counts, want)
			}
		}
		other := s.create(t, draft(t, `"slug":"other"`))
		for _, query := range []string{"goal=" + grow.ID, "project=" + launch.ID} {
			s.Get(other.path()+"/issues?"+query).Is(t, 404, "not_found")
			s.Get(other.path()+"/issues/counts?"+query).Is(t, 404, "not_found")
		}
		s.Get(other.path()+"/projects?goal="+grow.ID).Is(t, 404, "not_found")
		s.Get(strings.Replace(grow.path(), acme.ID, other.ID, 1)).Is(t, 404, "not_found")
		s.Get(strings.Replace(launch.path(), acme.ID, other.ID, 1)).Is(t, 404, "not_found")
	})
}

// spent reads what was spent on a goal or a project.
func (s *instance) spent(t *testing.T, path string) json.Number {
	t.Helper()
	answer := s.In(t).Get(path)
	answer.Is(t, http.StatusOK, "")
	return resttest.Data[struct{ Budget apiPurposeBudget }](t, answer).Budget.SpentUsd
}

func TestGoalsAndProjectsShowWhatWasSpentOnThem(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		grow, save := s.aims(t, acme, "Grow"), s.aims(t, acme, "Save")
		launch, rest := s.plans(t, acme, inGoal(grow)), s.plans(t, acme, "")
		is := func(ofGrow, ofSave, ofLaunch, ofRest json.Number) {
			t.Helper()
			got := []json.Number{s.spent(t, grow.path()), s.spent(t, save.path()), s.spent(t, launch.path()), s.spent(t, rest.path())}
			if diff := cmp.Diff([]json.Number{ofGrow, ofSave, ofLaunch, ofRest}, got); diff != "" {
				t.Error(diff)
			}
			listed := append(resttest.Data[[]apiPurpose](t, s.Get(acme.path()+"/goals")),
				resttest.Data[[]apiPurpose](t, s.Get(acme.path()+"/projects"))...)
			for _, one := range listed {
				want := map[string]json.Number{grow.ID: got[0], save.ID: got[1], launch.ID: got[2], rest.ID: got[3]}[one.ID]
				if one.Budget.SpentUsd != want {
					t.Errorf("%s is listed with %s, and has spent %s", one.ID, one.Budget.SpentUsd, want)
				}
			}
		}
		is("0", "0", "0", "0")
		filed := s.file(t, acme, inProject(launch))
		before := s.Get(launch.path()).Header.Get("ETag")
		lease := ada.claim(t, "")
		ada.state(t, lease, "costs", `"costs":[{"key":"a","kind":"tools","usd":0.1},{"key":"b","kind":"tools","usd":0.2}]`)
		is("0.3", "0", "0.3", "0")
		if send(s.In(t), "GET", launch.path(), "", "If-None-Match", before).Status != 200 {
			t.Error("what was spent is not sent")
		}

		// A run stays what it was for, whatever becomes of its issue and its project; so do late costs, and corrections.
		s.Patch(filed.path(), `{"projectId":"`+rest.ID+`","goalId":"`+save.ID+`"}`).Is(t, 200, "")
		s.Patch(launch.path(), `{"goalId":null}`).Is(t, 200, "")
		ada.ends(t, lease, "complete", `"costs":[{"key":"c","kind":"tools","usd":0.4}]`)
		ada.state(t, lease, "costs", `"costs":[{"key":"d","kind":"tools","usd":1}]`)
		is("1.7", "0", "1.7", "0")
		last := s.entries(t, acme, "&project="+launch.ID)[0]
		s.Post(acme.path()+"/costs/adjust", `{"entryId":"`+last.ID+`","usd":-0.000001,"reason":"Credit"}`).Is(t, 200, "")
		is("1.699999", "0", "1.699999", "0")

		// A limit that comes later finds what was spent before, and takes nothing of it away when it goes.
		s.moved(t, filed, "reject", `{"note":"Again."}`)
		next := ada.claim(t, "")
		ada.state(t, next, "costs", `"costs":[{"key":"a","kind":"tools","usd":2}]`)
		is("1.699999", "2", "1.699999", "2")
		for _, body := range []string{`{"budget":{"usd":1}}`, `{"budget":null}`} {
			for _, path := range []string{grow.path(), rest.path()} {
				patched := s.Patch(path, body)
				if want := s.spent(t, path); resttest.Data[apiPurpose](t, patched).Budget.SpentUsd != want {
					t.Errorf("%s, want %s", patched.Body, want)
				}
			}
			is("1.699999", "2", "1.699999", "2")
		}
		ended := s.Post(grow.path()+"/close", `{"outcome":"achieved"}`)
		if got := resttest.Data[apiPurpose](t, ended).Budget.SpentUsd; got != "1.699999" {
			t.Errorf("%s", ended.Body)
		}
		send(s.Client, "PATCH", rest.path(), `{"budget":{"spentUsd":0}}`).Is(t, 422, "validation_failed")
	})
}

// apiPurpose is what goals and projects have in common.
type apiPurpose struct {
	ID     string
	Budget apiPurposeBudget
}

func TestGoalsAndProjectsAreFilteredAndChanged(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":0}`)
		grow := s.aims(t, acme, "Grow")
		s.clock.advance(time.Second)
		save := s.aims(t, acme, "Save")
		launch := s.plans(t, acme, inGoal(grow)+`,"ownerTeamId":"`+sales.ID+`"`)
		s.clock.advance(time.Second)
		cut := s.plans(t, acme, "")
		answer := s.Patch(grow.path(), `{"title":"Grow fast","targetDate":"2026-12-31","budget":{"usd":2.5}}`)
		answer.Is(t, 200, "")
		got := resttest.Data[apiGoal](t, answer)
		if *got.TargetDate != "2026-12-31" || *got.Budget.Usd != "2.5" || got.Title != "Grow fast" {
			t.Errorf("%+v", got)
		}
		s.Patch(grow.path(), `{"targetDate":null,"budget":{"usd":null}}`).Is(t, 200, "")
		answer = s.Patch(grow.path(), `{"budget":null}`)
		if got := resttest.Data[apiGoal](t, answer); got.TargetDate != nil || got.Budget.Usd != nil {
			t.Errorf("%s", answer.Body)
		}
		events := len(s.events(t, acme.ID))
		for _, c := range []struct{ path, body, want string }{
			{grow.path(), `{"status":"achieved","progress":{}}`, "immutable_field"},
			{launch.path(), `{"companyId":"x"}`, "immutable_field"},
			{grow.path(), `{"title":"","targetDate":"soon","x":1}`, "validation_failed"},
			{launch.path(), `{"goalId":"gl_1","ownerTeamId":"tm_1"}`, "validation_failed"},
		} {
			send(s.Client, "PATCH", c.path, c.body).Is(t, 422, c.want)
		}
		s.Patch(grow.path(), `{}`).Is(t, 200, "")
		send(s.Client, "POST", grow.path()+"/close", `{}`).Is(t, 422, "validation_failed")
		if got := len(s.events(t, acme.ID)); got != events {
			t.Errorf("%d events of nothing", got-events)
		}
		closed := once(s.Client, "k", grow.path()+"/close", `{"outcome":"abandoned"}`)
		closed.Is(t, 200, "")
		again := once(s.Client, "k", grow.path()+"/close", `{"outcome":"abandoned"}`)
		if again.Status != 200 || string(again.Data) != string(closed.Data) || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %s", again.Status, again.Body)
		}
		s.Post(grow.path()+"/close", `{"outcome":"achieved"}`).Is(t, 409, "invalid_transition")
		s.Post(launch.path()+"/archive", "").Is(t, 200, "")
		s.Post(launch.path()+"/archive", "").Is(t, 409, "invalid_transition")
		for query, want := range map[string]string{
			"goals": save.ID + grow.ID, "goals?status=active": save.ID, "goals?status=achieved,abandoned": grow.ID,
			"goals?status=achieved": "",
			"projects":              cut.ID + launch.ID, "projects?status=archived": launch.ID,
			"projects?status=active,archived": cut.ID + launch.ID,
			"projects?goal=" + grow.ID:        launch.ID, "projects?status=active&goal=" + grow.ID: "", "projects?goal=" + save.ID: "",
		} {
			var got string
			for _, one := range resttest.Data[[]struct{ ID string }](t, s.Get(acme.path()+"/"+query)) {
				got += one.ID
			}
			if got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		send(s.Client, "GET", acme.path()+"/goals?status=open", "").Is(t, 400, "invalid_parameter")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.Post(acme.path()+"/goals", `{"title":"x"}`).Is(t, 409, "company_archived")
		s.Patch(cut.path(), `{}`).Is(t, 409, "company_archived")
		for _, scope := range []string{"read", "company:" + acme.ID + ":read"} {
			s.with(t, scope).Get(save.path()).Is(t, 200, "")
			s.with(t, scope).Post(save.path()+"/close", `{"outcome":"achieved"}`).Is(t, 403, "insufficient_scope")
		}
	})
}

func TestWorkForWhatIsOverIsRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		grow := s.aims(t, acme, "Grow")
		launch, rest := s.plans(t, acme, inGoal(grow)), s.plans(t, acme, "")
		free := s.file(t, acme, `,"priority":"low"`)
		failed := s.file(t, acme, inProject(launch))
		working := ada.claim(t, "")
		filed := ada.In(t).Post("/gateway/v1/issues", working.body(`"leaseId":"`+working.LeaseID+`","title":"Part"`))
		filed.Is(t, 201, "")
		part := resttest.Data[apiIssue](t, filed)
		if part.ProjectID == nil || *part.ProjectID != launch.ID || *part.GoalID != grow.ID {
			t.Errorf("%+v", part)
		}
		elsewhere := ada.In(t).Post("/gateway/v1/issues", working.body(`"leaseId":"`+working.LeaseID+`","title":"Part"`+inProject(rest)))
		elsewhere.Is(t, 201, "")
		if other := resttest.Data[apiIssue](t, elsewhere); *other.ProjectID != rest.ID || other.GoalID != nil {
			t.Errorf("%+v", other)
		}
		ada.state(t, working, "costs", `"costs":[{"key":"k","kind":"tools","usd":1}]`)
		ada.ends(t, working, "fail", `"error":{"code":"c","message":"m"},"retry":false`)
		retried := s.moved(t, failed, "retry", "")
		if *retried.ProjectID != launch.ID || *retried.GoalID != grow.ID {
			t.Errorf("%+v", retried)
		}
		s.moved(t, retried, "cancel", "")

		s.Post(grow.path()+"/close", `{"outcome":"achieved"}`).Is(t, 200, "")
		issues, projects := acme.path()+"/issues", acme.path()+"/projects"
		s.Post(issues, `{"title":"x"`+inGoal(grow)+`}`).Is(t, 409, "goal_closed")
		s.Post(issues, `{"title":"x"`+inProject(launch)+`}`).Is(t, 409, "goal_closed")
		s.Post(projects, `{"title":"x"`+inGoal(grow)+`}`).Is(t, 409, "goal_closed")
		s.Patch(rest.path(), `{"goalId":"`+grow.ID+`"}`).Is(t, 409, "goal_closed")
		s.Patch(free.path(), `{"goalId":"`+grow.ID+`"}`).Is(t, 409, "goal_closed")
		s.Patch(free.path(), `{"projectId":"`+launch.ID+`"}`).Is(t, 409, "goal_closed")
		s.Post(failed.path()+"/retry", "").Is(t, 409, "goal_closed")

		refused := s.Post(launch.path()+"/archive", `{"cancelOpenIssues":false}`)
		refused.Is(t, 409, "project_not_empty")
		if got := details(t, refused)["openIssues"]; fmt.Sprint(got) != "1" {
			t.Errorf("%s", refused.Body)
		}
		s.Post(launch.path()+"/archive", `{"cancelOpenIssues":true}`).Is(t, 200, "")
		await(t, "the cancellation", func() bool { return s.look(t, part).Status == "cancelled" })
		s.Post(issues, `{"title":"x"`+inProject(launch)+`}`).Is(t, 409, "project_archived")
		s.Patch(free.path(), `{"projectId":"`+launch.ID+`"}`).Is(t, 409, "project_archived")
		s.Post(failed.path()+"/retry", "").Is(t, 409, "project_archived")
		for _, body := range []string{`"projectId":"prj_1","goalId":"gl_1"`, `"projectId":"` + grow.ID + `","goalId":"` + launch.ID + `"`} {
			for _, answer := range []resttest.Answer{s.Post(issues, `{"title":"x",`+body+`}`), s.Patch(free.path(), `{`+body+`}`)} {
				answer.Is(t, 422, "validation_failed")
				if text := string(answer.Body); !strings.Contains(text, `"projectId"`) || !strings.Contains(text, `"goalId"`) {
					t.Error(text)
				}
			}
		}
	})
}

func TestAnArchivedProjectHasNoMoreWork(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 2)
		ada, eve := agents[0], agents[1]
		launch := s.plans(t, acme, "")
		parent := s.file(t, acme, inProject(launch)+`,"priority":"urgent"`)
		below := s.file(t, acme, `,"parentId":"`+parent.ID+`","priority":"low"`)
		const many = 205
		var all []apiIssue
		for range many {
			all = append(all, s.file(t, acme, inProject(launch)))
		}
		free := s.file(t, acme, `,"priority":"low"`)
		lease := ada.claim(t, "")
		answer := s.Post(launch.path()+"/archive", `{"cancelOpenIssues":true}`)
		answer.Is(t, 200, "")
		if got := resttest.Data[apiProject](t, answer); got.Status != "archived" {
			t.Errorf("%+v", got)
		}
		refused := ada.call(t, lease, "renew", "")
		refused.Is(t, 409, "stale_lease")
		if got := details(t, refused)["reason"]; got != "cancelled" {
			t.Errorf("%v", got)
		}
		if got := eve.claim(t, ""); got.Issue.ID != free.ID {
			t.Errorf("%+v", got.Issue)
		}
		await(t, "the last issue", func() bool { return s.progress(t, launch.path()) == apiProgress{} })
		await(t, "what is below", func() bool { return s.look(t, below).Status == "cancelled" })
		for _, one := range []apiIssue{parent, all[0], all[many-1]} {
			if got := s.look(t, one); got.Status != "cancelled" {
				t.Errorf("%+v", got)
			}
		}
		reasons := s.happened(t, acme, all[many-1].ID)
		if last := reasons[len(reasons)-1]; last != "cancelled project_archived" {
			t.Errorf("%v", reasons)
		}
	})
}
