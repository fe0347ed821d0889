package store

import (
	"context"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/domain/text"
)

// AgentReader reads agents. What returns them otherwise than one by its id leaves out their Instructions, which can be long.
type AgentReader interface {
	Getter[id.Agent, agent.Agent]

	// ByHash returns the agent whose token has this hash (access.Value.Hash), in any state, or fault.NotFound.
	ByHash(ctx context.Context, hash string) (agent.Agent, error)

	// Hashes returns the hashes of the tokens of those of some agents that have not retired, and whose company is active.
	Hashes(ctx context.Context, which []id.Agent) (map[id.Agent]string, error)

	// List returns at most size of the agents that match and come after a position: newest first, and by descending id within
	// one instant. A page by words can have fewer, even none, while another follows: it looks at MostSearched agents at most.
	List(ctx context.Context, filter AgentFilter, after page.Position, size int) (page.Page[agent.Agent], error)

	// Idle returns the idle agent of a team that gets its next issue, or fault.NotFound: of those that are active and have no
	// running issue the one with the fewest open issues, then the oldest.
	Idle(ctx context.Context, in id.Team) (agent.Agent, error)

	// Runnable returns active agents that Holdco runs (agent.Agent.Duty), whose adapters need not wait at an instant for their next
	// attempt, and which may take an issue that is claimable, ordered by id: those after one, Portion at most.
	Runnable(ctx context.Context, at time.Time, after id.Agent) ([]agent.Agent, error)

	// AtWork returns an agent with its company, the number of its open runs, and the first issue that IssueReader.Claimable returns for
	// the company and the keys; or fault.NotFound if there is no such agent.
	AtWork(ctx context.Context, which id.Agent, of id.Company, keys []string) (AtWork, error)

	// Employment returns where an agent works, or fault.NotFound.
	Employment(ctx context.Context, which id.Agent) (Employment, error)

	// OfCompany returns the oldest agents of a company that are not retired, at most most of them, oldest first.
	OfCompany(ctx context.Context, which id.Company, most int) ([]agent.Agent, error)
}

// AtWork is an agent with what decides whether it gets work.
type AtWork struct {
	Agent    agent.Agent               // only ID, Company, Team, Status, Hash, Requires, Budget, Guard, and of Stats what failures are
	Company  company.Company           // only ID, Status, LeaseEpoch, WorkPaused and Budget
	OpenRuns int                       // of the agent
	First    *FirstIssue               // nil: none
	Accounts map[string]budget.Account // those that there are of the company, the team, the agent, and First; nil without First
}

// Employment is an agent with those it works for.
type Employment struct {
	Agent   agent.Agent     // only ID, Name, Role, Requires and Instructions
	Team    team.Team       // only ID and Name; zero: it was deleted
	Manager agent.Agent     // of the team, only ID, Name and Role; zero: there is none, or it has retired
	Company company.Company // only ID, Name and Description
}

// FirstIssue is the first issue that may be leased, with what shows whether its context has to be read.
type FirstIssue struct {
	Issue       issue.Issue
	HasChildren bool
	HasComments bool
	IsEnding    bool // its project is archived: it is about to be cancelled
}

// AgentFilter says which agents a list holds: those that meet every condition that is set.
type AgentFilter struct {
	Company id.Company
	Team    id.Team        // "": any
	Status  []agent.Status // nil: any
	Adapter string         // "": any
	Words   text.Words     // in the name or the role; nil: any
}

// Agents reads and changes agents.
type Agents interface {
	AgentReader

	// Save does not change the company, the team and CreatedAt, which are permanent, nor Stats.LastActiveAt. Neither Add nor Save
	// changes Stats.Spent, which is the sum of what Runs.AddCharges was told. Save raises the work revision of the company when an
	// agent becomes active, or no longer waits after failures.
	Repository[id.Agent, agent.Agent]

	// Count adds to the stats of an agent. It raises the version.
	Count(ctx context.Context, of id.Agent, more agent.Work) error

	// Touch moves Stats.LastActiveAt of each agent forward to the given instant, never back; agents that do not exist are
	// skipped. It needs no event, and the version stays.
	Touch(ctx context.Context, active map[id.Agent]time.Time) error
}
