package dashboard_test

import (
	"testing"

	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/dashboard"
	"holdco/domain/team"
)

func TestAnOrgIsATreeOfTeams(t *testing.T) {
	t.Parallel()
	org := dashboard.OrgOf(company.Company{TeamCount: 2, AgentCount: 2},
		[]team.Team{
			{ID: "tm_1", Name: "Sales", Slug: "sales", Manager: "agt_1", Headcount: 3, AgentCount: 2},
			{ID: "tm_2", Name: "None", Slug: "none"},
		},
		[]agent.Agent{
			{ID: "agt_1", Team: "tm_1", Name: "Ada", Role: "Seller", Status: agent.Active},
			{ID: "agt_2", Team: "tm_1", Name: "Bob", Role: "Buyer", Status: agent.Paused},
		})
	const want = `{"teams":[` +
		`{"id":"tm_1","name":"Sales","slug":"sales","managerAgentId":"agt_1","headcount":3,"emptySlots":1,"agents":[` +
		`{"id":"agt_1","name":"Ada","role":"Seller","status":"active"},{"id":"agt_2","name":"Bob","role":"Buyer","status":"paused"}]},` +
		`{"id":"tm_2","name":"None","slug":"none","managerAgentId":null,"headcount":0,"emptySlots":0,"agents":[]}],"truncated":false}`
	if got := string(org.Fields().Append(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAnOrgSaysWhenItIsNotAll(t *testing.T) {
	t.Parallel()
	for of, want := range map[company.Company]string{
		{TeamCount: dashboard.MostShown, AgentCount: dashboard.MostShown}: `{"teams":[],"truncated":false}`,
		{TeamCount: dashboard.MostShown + 1}:                              `{"teams":[],"truncated":true}`,
		{AgentCount: dashboard.MostShown + 1}:                             `{"teams":[],"truncated":true}`,
	} {
		if got := string(dashboard.OrgOf(of, nil, nil).Fields().Append(nil)); got != want {
			t.Errorf("%d teams, %d agents: %s", of.TeamCount, of.AgentCount, got)
		}
	}
}
