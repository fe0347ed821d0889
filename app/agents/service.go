package agents

import (
	"context"

	"holdco/app/aside"
	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Agents, inbound.AgentAuthenticator and inbound.AgentSelf.
type Service struct {
	store    store.Store
	clock    outbound.Clock
	ids      outbound.IDs
	entropy  outbound.Entropy
	settings Settings
	cached   *Credentials
	lookUps  aside.Calls
	prices   *cache.Prices
	active   cache.LastUses[id.Agent] // when agents last called the gateway
}

// Credentials are those of agents, cached by the hashes of their tokens. The use cases that delete companies invalidate them too.
type Credentials = cache.Cache[agent.Credential]

// Settings are what the operator sets.
type Settings struct {
	Adapters []string // the installed ones
}

var (
	_ inbound.Agents             = (*Service)(nil)
	_ inbound.AgentAuthenticator = (*Service)(nil)
	_ inbound.AgentSelf          = (*Service)(nil)
)

// New returns the use cases.
func New(
	s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy, settings Settings, cached *Credentials,
	prices *cache.Prices,
) *Service {
	return &Service{
		store: s, clock: clock, ids: ids, entropy: entropy, settings: settings, cached: cached, prices: prices,
		lookUps: aside.New(mostLookUps),
	}
}

// List returns a page of the agents of a company. A team that the company does not have has none.
func (s *Service) List(
	ctx context.Context, caller access.Caller, list inbound.AgentList,
) (found page.Page[agent.Agent], err error) {
	if err := caller.NeedsIn(access.Read, list.Company); err != nil {
		return found, err
	}
	err = store.ViewIn(ctx, s.store, list.Company, func(ctx context.Context, r store.Reader) error {
		filter := store.AgentFilter{Company: list.Company, Status: list.Status, Adapter: list.Adapter, Words: list.Words}
		if list.Team != "" {
			team, err := store.FindTeam(ctx, r.Teams(), list.Company, list.Team)
			if err != nil {
				return err
			}
			filter.Team = team.ID
		}
		found, err = r.Agents().List(ctx, filter, list.After, list.Size)
		return err
	})
	return found, err
}

// Get returns one agent.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, which id.Agent) (agent.Agent, error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return agent.Agent{}, err
	}
	return store.GetIn(ctx, s.store.Agents(), of, which)
}

// rules are what the operator and a caller allow.
func (s *Service) rules(caller access.Caller) agent.Rules {
	return agent.Rules{Adapters: s.settings.Adapters, MayRunOnHost: caller.Needs(access.Admin) == nil}
}
