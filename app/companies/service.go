package companies

import (
	"context"
	"sync/atomic"
	"time"

	"holdco/domain/access"
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
	rules      Rules

	deletions chan struct{} // holds a value when a deletion was asked for
	mending   atomic.Bool   // a workspace may be missing or left over
}

// Rules are what the operator decides.
type Rules struct {
	Adapters  []string      // the installed adapters; the first is the default; at least one
	Retention time.Duration // how long an archived company can be restored
}

var _ inbound.Companies = (*Service)(nil)

// New makes the service.
func New(s store.Store, workspaces outbound.Workspaces, ids outbound.IDs, log outbound.Log, rules Rules) *Service {
	service := &Service{store: s, workspaces: workspaces, ids: ids, log: log, rules: rules, deletions: make(chan struct{}, 1)}
	service.mending.Store(true)
	return service
}

// change moves one company, for a caller who may write to it.
func (s *Service) change(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
	move func(c company.Company, at time.Time) (company.Company, *event.Event, error),
) (company.Company, error) {
	if err := caller.NeedsIn(access.Write, which); err != nil {
		return company.Company{}, err
	}
	order := store.Order{Actor: caller.Actor, Match: match, Once: once, Company: which}
	return store.Change(ctx, s.store, order, which, store.Tx.Companies, move)
}
