package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/id"
)

// AgentChecks look whether agents have what they need to work.
type AgentChecks interface {
	// Check needs Admin in the company. It looks at the agent, and at what is around it on the host of this server: it may start a known
	// program with --version, and connect to a URL. It starts no work, calls no model and changes nothing. It fails with fault.NotFound
	// as Agents do.
	Check(ctx context.Context, caller access.Caller, of id.Company, which id.Agent) ([]agent.Finding, error)
}
