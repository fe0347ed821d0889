package companies

import (
	"context"
	"sync/atomic"
	"time"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Companies.
type Service struct {
	store      store.Store
	workspaces outbound.Workspaces
	ids        outbound.IDs
	log        outbound.Log
	settings   Settings
	agents     *cache.Cache[agent.Credential] // of the gateway

	deletions chan struct{} // notifies the job that removes companies
	mending   atomic.Bool   // a workspace may be missing, or left over from a deleted company
}

// Settings are what the operator chose for companies.
type Settings struct {
	Adapters  []string      // the installed adapters; the first is the default; at least one
	Retention time.Duration // how long an archived company can be restored
}

var _ inbound.Companies = (*Service)(nil)

// New returns the use cases. Workspaces are checked once after the start: see MendWorkspaces. The agents are those whose
// credentials are cached; the deletion of a company ends them.
func New(
	s store.Store, workspaces outbound.Workspaces, ids outbound.IDs, log outbound.Log, settings Settings,
	agents *cache.Cache[agent.Credential],
) *Service {
	service := &Service{
		store: s, workspaces: workspaces, ids: ids, log: log, settings: settings, agents: agents, deletions: make(chan struct{}, 1),
	}
	service.mending.Store(true)
	return service
}

// change updates one company if the caller may write to it.
func (s *Service) change(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
	move func(c company.Company, at time.Time) (company.Company, *event.Event, error),
) (company.Company, error) {
	if err := caller.NeedsIn(access.Write, which); err != nil {
		return company.Company{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: which}
	return store.Change(ctx, s.store, request, which, store.Tx.Companies, move)
}
