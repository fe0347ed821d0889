package agent

import "holdco/domain/company"

// Obstacle is what keeps an agent from new work, whatever there is to do.
type Obstacle string

// The obstacles.
const (
	NoObstacle   Obstacle = ""
	CompanyRests Obstacle = "company" // it has paused all work, or is no longer active
	AgentRests   Obstacle = "agent"   // it is paused, or has retired
)

// Obstacle returns what keeps the agent from new work of its company. Budgets can too: see budget.Envelope.Lack.
func (a Agent) Obstacle(of company.Company) Obstacle {
	switch {
	case of.WorkPaused || of.Status != company.Active:
		return CompanyRests
	case a.Status != Active:
		return AgentRests
	}
	return NoObstacle
}
