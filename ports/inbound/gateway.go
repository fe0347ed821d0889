package inbound

import (
	"context"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/team"
)

// AgentAuthenticator authenticates the calls of agents.
type AgentAuthenticator interface {
	// Authenticate returns the agent whose token has this value, or fault.Unauthorized. A token of an agent that has retired, or
	// whose company is being deleted, authenticates nobody; one of a paused agent, or in an archived company, does.
	Authenticate(ctx context.Context, token string) (agent.Caller, error)
}

// AgentSelf is what an agent asks about itself.
type AgentSelf interface {
	// Me returns the agent that calls. If it has retired, or lost its company, since it was authenticated, the fault is
	// fault.Unauthorized.
	Me(ctx context.Context, caller agent.Caller) (AgentAtWork, error)
}

// AgentAtWork is an agent with where it works.
type AgentAtWork struct {
	Budgets budget.Envelopes // of the company, the team and the agent
	Agent   agent.Agent
	Team    *team.Team // nil: it was deleted
	Company company.Company
	Leases  int   // how many are live
	Prices  int64 // the revision by which the process that was asked charges
}
