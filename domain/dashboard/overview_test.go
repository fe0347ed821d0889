package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/dashboard"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/team"
)

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

func TestAnOverviewHasTheLastDaysAndCountsOfToday(t *testing.T) {
	t.Parallel()
	o := dashboard.Overview{
		Company: company.Company{ID: "cmp_1", Slug: "acme", Name: "Acme", Status: company.Active},
		Teams:   []team.Team{{ID: "tm_1", Name: "Sales", Slug: "sales", AgentCount: 2}}, InFlight: map[id.Team]int64{"tm_1": 3},
		Tasks: map[issue.Status]int64{issue.Queued: 4, issue.Done: 9},
		Days: map[string]map[issue.Status]int64{
			"2026-04-11": {issue.Done: 2, issue.Failed: 1}, "2026-03-29": {issue.Done: 5}, "2026-03-28": {issue.Done: 7},
		},
		Spent: map[string]cost.Sum{"2026-04-11": {LLM: 1_250_000}},
		Inbox: dashboard.InboxCounts{dashboard.Review: 2, dashboard.Waiting: 1},
		Health: dashboard.Health{Active: 2, Troubled: []dashboard.Troubled{
			{ID: "agt_1", Name: "Ada", Reason: dashboard.Failing}, {ID: "agt_1", Name: "Ada", Reason: dashboard.Silent},
		}},
		At: noon,
	}
	got := string(o.Fields().Append(nil))
	for _, part := range []string{
		`"company":{"id":"cmp_1","slug":"acme","name":"Acme","status":"active","workPaused":false}`,
		`"teams":[{"id":"tm_1","name":"Sales","slug":"sales","agentCount":2,"tasksInFlight":3}]`,
		`"inbox":{"approvals":0,"handoffs":0,"questions":0,"reviews":2,"blocked":0,"waiting":1,"total":3}`,
		`"tasks":{"queued":4,"assigned":0,"running":0,"review":0,"handoff":0,"completedToday":2,"failedToday":1}`,
		`"failingAgents":1,"runningLeases":0,"silentAgents":1,"absentAgents":0,"uncostedRuns":0,"heldAgents":0,"unpricedAgents":0}`,
		`"days":[{"day":"2026-03-29","done":5,"failed":0,"usd":0},`,
		`{"day":"2026-04-11","done":2,"failed":1,"usd":1.25}],"recentActivity":[]`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("there is no %s in %s", part, got)
		}
	}
	if n := strings.Count(got, `"day":`); n != dashboard.DaysShown {
		t.Errorf("%d days", n)
	}
}

func TestHealthNamesTheFirstTroubledAgents(t *testing.T) {
	t.Parallel()
	var h dashboard.Health
	for range dashboard.MostShown + 1 {
		h.Troubled = append(h.Troubled, dashboard.Troubled{ID: "agt_1", Name: "Ada", Reason: dashboard.Absent})
	}
	got := string(h.Fields().Append(nil))
	if !strings.Contains(got, `"absentAgents":201`) || strings.Count(got, `{"id":"agt_1","name":"Ada","reason":"absent"}`) != 200 {
		t.Error(got)
	}
}

func TestItemsAreInTheOrderInWhichTheyBeganToWait(t *testing.T) {
	t.Parallel()
	at := func(hours int, which id.Issue) dashboard.Item {
		since := noon.Add(time.Duration(hours) * time.Hour)
		return dashboard.Item{Kind: dashboard.Review, Since: since, Issue: dashboard.IssueLine{ID: which}}
	}
	asked := at(1, "iss_1")
	asked.Kind, asked.Approval, asked.Asked = dashboard.Approval, "apr_1", "Deploy"
	asked.Agent = dashboard.Name{ID: "agt_1", Name: "Ada"}
	got := dashboard.InOrder([]dashboard.Item{at(2, "iss_2"), at(1, "iss_4"), asked, at(1, "iss_3"), at(3, "iss_5")}, 3)
	if len(got.Items) != 3 || got.Items[0].Approval != "apr_1" || got.Items[1].Issue.ID != "iss_3" || got.Items[2].Issue.ID != "iss_4" ||
		got.Next.ID != "iss_4" || got.Next.Values[0] != "1775912400000" {
		t.Errorf("%+v", got)
	}
	if rest := dashboard.InOrder([]dashboard.Item{at(2, "iss_2")}, 3); len(rest.Items) != 1 || !rest.Next.IsStart() {
		t.Errorf("%+v", rest)
	}
	const want = `{"kind":"approval","company":{"id":"","slug":"","name":""},"subject":{"type":"approval","id":"apr_1"},` +
		`"issue":{"id":"iss_1","number":0,"title":"","status":"","priority":""},"agent":{"id":"agt_1","name":"Ada"},` +
		`"action":"Deploy","since":"2026-04-11T13:00:00.000Z","deadline":null}`
	if got := string(asked.Fields().Append(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
