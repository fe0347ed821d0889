package agent_test

import (
	"testing"

	"holdco/domain/agent"
	"holdco/domain/company"
)

func TestWhoRestsGetsNoWork(t *testing.T) {
	t.Parallel()
	active := company.Company{Status: company.Active}
	for name, c := range map[string]struct {
		of     company.Company
		status agent.Status
		want   agent.Obstacle
	}{
		"both work":               {active, agent.Active, agent.NoObstacle},
		"the agent is paused":     {active, agent.Paused, agent.AgentRests},
		"the agent has retired":   {active, agent.Retired, agent.AgentRests},
		"work is paused":          {company.Company{Status: company.Active, WorkPaused: true}, agent.Active, agent.CompanyRests},
		"the company is archived": {company.Company{Status: company.Archived}, agent.Active, agent.CompanyRests},
		"the company is deleted":  {company.Company{Status: company.Deleting}, agent.Active, agent.CompanyRests},
		"both rest":               {company.Company{Status: company.Active, WorkPaused: true}, agent.Paused, agent.CompanyRests},
	} {
		if got := (agent.Agent{Status: c.status}).Obstacle(c.of); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
