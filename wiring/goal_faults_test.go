package wiring_test

import (
	"fmt"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

func TestBudgetsOfGoalsAndProjectsAreExactAmountsInTheirBounds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, path := range []string{s.aims(t, acme, "Grow").path(), s.plans(t, acme, "").path()} {
			list := path[:strings.LastIndexByte(path, '/')]
			for amount, want := range map[string]string{
				"0": "0", "1e6": "1000000", "1.5E+3": "1500", "25e-1": "2.5", "0.000001": "0.000001", "1000000000": "1000000000",
				"999999999.999999": "999999999.999999", "0.10": "0.1", "1.0000000": "1", "-0": "0",
			} {
				body := `{"title":"x","budget":{"usd":` + amount + `}}`
				for _, answer := range []resttest.Answer{s.Patch(path, body), s.Post(list, body)} {
					if answer.Status/100 != 2 {
						t.Errorf("%s: %s", amount, answer.Body)
					} else if got := resttest.Data[apiPurpose](t, answer).Budget.Usd; got == nil || got.String() != want {
						t.Errorf("%s: %s, want %s", amount, answer.Body, want)
					}
				}
			}
			kept, count := string(s.Get(path).Data), len(s.events(t, acme.ID))
			for want, amounts := range map[string][]string{
				"422 budget.usd out_of_range": {"-0.000001", "-1e6", "1000000000.000001", "1e400", "-1e400"},
				"422 budget.usd too_precise":  {"0.0000001", "1e-7", "1.0000001"},
				"422 budget.usd wrong_type":   {`"1"`, "true"},
				"400 ":                        {"NaN", "Infinity", "1.", "01", "+1", "0x1"},
			} {
				for _, amount := range amounts {
					body := `{"title":"x","budget":{"usd":` + amount + `}}`
					for _, answer := range []resttest.Answer{send(s.Client, "PATCH", path, body), send(s.Client, "POST", list, body)} {
						if got := fmt.Sprint(answer.Status, " ", strings.Join(wrong(answer), ",")); got != want {
							t.Errorf("%s: %s, want %s", amount, answer.Body, want)
						}
					}
				}
			}
			if now := string(s.Get(path).Data); now != kept || len(s.events(t, acme.ID)) != count {
				t.Errorf("what was refused has changed %s to %s", kept, now)
			}
		}
	})
}

func TestGoalsAndProjectsOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, named("other"))
		grow, launch := s.aims(t, other, "Grow"), s.plans(t, other, "")
		team := s.found(t, other, `{"name":"Sales","headcount":0}`)
		own, filed := s.plans(t, acme, ""), s.file(t, acme, "")
		events := len(s.events(t, acme.ID))
		for _, c := range []struct{ method, path, body, want string }{
			{"POST", acme.path() + "/projects", `{"title":"x"` + inGoal(grow) + `,"ownerTeamId":"` + team.ID + `"}`, "goalId, ownerTeamId"},
			{"PATCH", own.path(), `{"goalId":"` + grow.ID + `","ownerTeamId":"` + team.ID + `"}`, "goalId, ownerTeamId"},
			{"POST", acme.path() + "/issues", `{"title":"x"` + inGoal(grow) + inProject(launch) + `}`, "goalId, projectId"},
			{"PATCH", filed.path(), `{"goalId":"` + grow.ID + `","projectId":"` + launch.ID + `"}`, "goalId, projectId"},
		} {
			answer := send(s.In(t), c.method, c.path, c.body)
			answer.Is(t, 422, "validation_failed")
			if got := strings.ReplaceAll(strings.Join(wrong(answer), ", "), " unknown_value", ""); got != c.want {
				t.Errorf("%s %s: %s", c.method, c.path, answer.Body)
			}
		}
		for _, c := range []struct{ of, move, body string }{
			{grow.path(), "", ""}, {grow.path(), "/close", `{"outcome":"achieved"}`},
			{launch.path(), "", ""}, {launch.path(), "/archive", `{}`},
		} {
			path := strings.Replace(c.of, other.ID, acme.ID, 1)
			if c.move == "" {
				s.Get(path).Is(t, 404, "not_found")
				s.Patch(path, `{"title":"x"}`).Is(t, 404, "not_found")
			} else {
				s.Post(path+c.move, c.body).Is(t, 404, "not_found")
			}
		}
		if got := len(s.events(t, acme.ID)); got != events {
			t.Errorf("%d events of nothing", got-events)
		}
	})
}

func TestAGoalIsClosedOnceWhateverComesToItMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for range 4 {
			grow, loose, filed := s.aims(t, acme, "Grow"), s.plans(t, acme, ""), s.file(t, acme, "")
			closing := func() resttest.Answer { return s.Post(grow.path()+"/close", `{"outcome":"achieved"}`) }
			filing := func() resttest.Answer { return s.Post(acme.path()+"/issues", `{"title":"x"`+inGoal(grow)+`}`) }
			answers := race(
				closing, closing, filing, filing, filing,
				func() resttest.Answer { return s.Patch(filed.path(), `{"goalId":"`+grow.ID+`"}`) },
				func() resttest.Answer { return s.Post(acme.path()+"/projects", `{"title":"x"`+inGoal(grow)+`}`) },
				func() resttest.Answer { return s.Patch(loose.path(), `{"goalId":"`+grow.ID+`"}`) },
			)
			if counts := tally(answers[:2]); counts["200"] != 1 || counts["409 invalid_transition"] != 1 {
				t.Errorf("%v", counts)
			}
			issues, projects := accepted(t, answers[2:6], "goal_closed"), accepted(t, answers[6:], "goal_closed")
			now := resttest.Data[apiGoal](t, s.Get(grow.path()))
			if now.Status != "achieved" || now.Progress != (apiProgress{TasksTotal: issues, TasksQueued: issues}) ||
				len(now.ProjectIDs) != projects {
				t.Errorf("%d issues and %d projects came to %+v", issues, projects, now)
			}
			filing().Is(t, 409, "goal_closed")
		}
	})
}

func TestAProjectIsArchivedOnceWhateverIsFiledMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for n := range 6 {
			cancels := n%2 == 0
			launch, filed := s.plans(t, acme, ""), s.file(t, acme, "")
			archiving := func() resttest.Answer {
				return s.Post(launch.path()+"/archive", fmt.Sprintf(`{"cancelOpenIssues":%t}`, cancels))
			}
			filing := func() resttest.Answer { return s.Post(acme.path()+"/issues", `{"title":"x"`+inProject(launch)+`}`) }
			answers := race(archiving, archiving, filing, filing, filing, func() resttest.Answer {
				return s.Patch(filed.path(), `{"projectId":"`+launch.ID+`"}`)
			})
			issues := accepted(t, answers[2:], "project_archived")
			counts := tally(answers[:2])
			archived, progress := 0, apiProgress{}
			for _, one := range s.events(t, acme.ID) {
				if one.Type == "project.archived" && one.Subject.ID == launch.ID {
					archived++
				}
			}
			switch {
			case counts["409 project_not_empty"] == 2 && !cancels && archived == 0: // the issues were there first
				progress = apiProgress{TasksTotal: issues, TasksQueued: issues}
			case counts["200"] == 1 && archived == 1 && (cancels || issues == 0) && counts["200"]+counts["409 invalid_transition"] == 2:
				filing().Is(t, 409, "project_archived")
			default:
				t.Errorf("%v and %d issues, archived %d times", counts, issues, archived)
			}
			await(t, "the issues", func() bool { return s.progress(t, launch.path()) == progress })
		}
	})
}

// accepted is how many of some requests were accepted. All others must have been refused with a code.
func accepted(t *testing.T, answers []resttest.Answer, code string) (count int) {
	t.Helper()
	for _, answer := range answers {
		if answer.Status/100 == 2 {
			count++
		} else if answer.Status != 409 || answer.Error.Code != code {
			t.Errorf("%s", answer.Body)
		}
	}
	return count
}
