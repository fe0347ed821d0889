package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/text"
)

// Agents are the use cases of agents. All are about the agents of one company: an unknown agent is fault.NotFound, and so is
// one of another company, and a company that the caller may not know of. Writes fail with fault.CompanyArchived or
// fault.InvalidTransition while the company takes no changes.
type Agents interface {
	// List needs Read. It returns a page of the agents that match, newest first.
	List(ctx context.Context, caller access.Caller, list AgentList) (page.Page[agent.Agent], error)

	// Get needs Read.
	Get(ctx context.Context, caller access.Caller, of id.Company, which id.Agent) (agent.Agent, error)

	// Hire needs Write. The new agent gets the oldest empty slot of its team. The faults are those of agent.New, and
	// fault.HeadcountLimit.
	Hire(ctx context.Context, caller access.Caller, of id.Company, draft agent.Draft, once idempotency.Request) (HiredAgent, error)

	// Update needs Write. The faults are fault.PreconditionFailed and those of agent.Agent.Apply.
	Update(
		ctx context.Context, caller access.Caller, of id.Company, which id.Agent, patch agent.Patch, match precondition.Match,
	) (agent.Agent, error)

	// Pause, Resume, ReleaseHold and Retire need Write. The faults are fault.PreconditionFailed and fault.InvalidTransition.
	Pause(
		ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
	) (agent.Agent, error)
	Resume(
		ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
	) (agent.Agent, error)
	ReleaseHold(
		ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
	) (agent.Agent, error)
	Retire(
		ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
	) (agent.Agent, error)

	// RotateToken needs Write. The old token ends at once. The faults are as of Pause.
	RotateToken(
		ctx context.Context, caller access.Caller, of id.Company, which id.Agent, match precondition.Match, once idempotency.Request,
	) (HiredAgent, error)
}

// AgentList selects a page of agents.
type AgentList struct {
	Company id.Company
	Team    string         // the id or the slug of a team; "": any
	Status  []agent.Status // nil: any
	Adapter string         // "": any
	Words   text.Words     // in the name or the role; nil: any
	After   page.Position
	Size    int // page.MinSize to page.MaxSize
}

// HiredAgent is an agent with its token, which is shown once.
type HiredAgent struct {
	Agent agent.Agent
	Token access.Value
}
