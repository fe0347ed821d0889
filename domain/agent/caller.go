package agent

import (
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// Caller is an agent that calls the gateway.
type Caller struct {
	ID      id.Agent
	Company id.Company
	Team    id.Team  // when it was authenticated
	Hash    string   // of its token; empty: Holdco itself calls for it
	Lease   id.Lease // the only one that it may use: it showed the token of a run; empty: any of the agent
	IsOver  bool     // that lease has ended
}

// MayRead refuses to show more than its lease to a caller with the token of a run that is over: fault.Unauthorized.
func (c Caller) MayRead() error {
	if c.IsOver {
		return access.Unauthorized("token")
	}
	return nil
}

// MayClaim refuses a caller with the token of a run: fault.InsufficientScope.
func (c Caller) MayClaim() error {
	if c.Lease != "" {
		return fault.New(fault.InsufficientScope, "This token is for one run. To claim issues takes the token of the agent.")
	}
	return nil
}

// Actor is who the agent is in the activity log.
func (c Caller) Actor() event.Actor { return event.Actor("agent:" + string(c.ID)) }

// AsCaller returns the agent as a caller of the gateway, which it is while it is employed and its company is not being deleted:
// when it is paused too, and when the company is archived. Otherwise it fails with fault.Unauthorized.
func (a Agent) AsCaller(of company.Company) (Caller, error) {
	if !a.IsEmployed() || !of.IsListed() {
		return Caller{}, access.Unauthorized("token")
	}
	return Caller{ID: a.ID, Company: a.Company, Team: a.Team, Hash: a.Hash}, nil
}

// StillAccepts refuses a caller that showed a token which has ended since: fault.Unauthorized. The token of a run outlives that of its
// agent.
func (a Agent) StillAccepts(caller Caller) error {
	if caller.Hash != "" && (!a.IsEmployed() || caller.Lease == "" && a.Hash != caller.Hash) {
		return access.Unauthorized("token")
	}
	return nil
}

// Credential is what authenticates an agent, and little else of it, so that many can be cached.
type Credential struct {
	Caller

	hash string // of its token
}

// Credential returns the credential of the agent. It fails as AsCaller does.
func (a Agent) Credential(of company.Company) (Credential, error) {
	caller, err := a.AsCaller(of)
	return Credential{Caller: caller, hash: a.Hash}, err
}

// Accepts reports whether a token with this hash authenticates its bearer. Tokens of agents do not expire.
func (c Credential) Accepts(hash string, _ time.Time) bool { return hash == c.hash }
