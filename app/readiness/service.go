// Package readiness looks whether agents have what they need to work, before they do.
package readiness

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.AgentChecks.
type Service struct {
	store     store.Store
	programs  outbound.ProgramFinder
	receivers outbound.ReceiverFinder
	prices    *cache.Prices
	settings  Settings
}

var _ inbound.AgentChecks = (*Service)(nil)

// Settings are what the operator sets.
type Settings struct {
	Adapters   []string // the installed ones
	Processes  int      // how many programs run at once, at most; 0: none
	HasGateway bool
	GatewayURL string // how agents reach the gateway; empty: nobody has said
}

// New returns the use case.
func New(
	s store.Store, programs outbound.ProgramFinder, receivers outbound.ReceiverFinder, prices *cache.Prices, settings Settings,
) *Service {
	return &Service{store: s, programs: programs, receivers: receivers, prices: prices, settings: settings}
}

// Check looks at one agent.
func (s *Service) Check(ctx context.Context, caller access.Caller, of id.Company, which id.Agent) ([]agent.Finding, error) {
	if err := caller.NeedsIn(access.Admin, of); err != nil {
		return nil, err
	}
	around := agent.Surroundings{
		Programs: s.settings.Processes > 0, HasGateway: s.settings.HasGateway, GatewayURL: s.settings.GatewayURL,
	}
	var found agent.Agent
	var duty agent.Duty
	err := store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) (err error) {
		if found, err = store.GetIn(ctx, r.Agents(), of, which); err != nil {
			return err
		}
		var isRun bool
		if duty, isRun = found.Duty(); !isRun {
			duty = agent.Duty{}
		}
		if duty.Program != nil {
			around.Secrets, err = secretsOf(ctx, r.Secrets(), of, *duty.Program)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	around.IsInstalled = slices.Contains(s.settings.Adapters, found.Adapter)
	prices, err := s.prices.Current(ctx, s.store.Prices())
	if err != nil {
		return nil, err
	}
	_, around.IsPriced = prices.Price(found.KnownModel(), cost.Tokens{}, 1)
	switch {
	case duty.Program != nil:
		s.lookFor(ctx, *duty.Program, &around)
	case duty.URL != "":
		if err := s.receivers.Reach(ctx, duty.URL); err != nil {
			around.Refused = err.Error()
		}
	}
	return found.Check(around), nil
}

// secretsOf returns the names of the secrets that a program refers to and the company has.
func secretsOf(ctx context.Context, secrets store.SecretReader, of id.Company, p agent.Program) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Values(p.Secrets)) {
		_, err := secrets.ByName(ctx, of, name)
		exists, err := store.Exists(err)
		if err != nil {
			return nil, err
		}
		if exists {
			names = append(names, name)
		}
	}
	return names, nil
}

// lookFor looks for a program on this host. One in the workspace of an issue is not there yet.
func (s *Service) lookFor(ctx context.Context, p agent.Program, around *agent.Surroundings) {
	around.IsRoot = s.programs.IsRoot()
	if name := p.Command[0]; strings.Contains(name, "/") && !path.IsAbs(name) {
		return
	}
	found, err := s.programs.Find(p.Command[0], p.Env)
	if err != nil {
		around.Missing = err.Error()
		return
	}
	around.Path = found
	if !p.AsksVersion() {
		return
	}
	if around.Version, err = s.programs.Version(ctx, found, p.Env); err != nil {
		around.NoAnswer = err.Error()
	}
}
