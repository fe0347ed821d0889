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

// move is the shape of a write to one company: lock it, check what the client demands, ask the domain, save, record.
// The domain gives no event when nothing changed; then nothing is saved.
func (s *Service) move(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
	ask func(c company.Company, at time.Time) (company.Company, *event.Event, error),
) (company.Company, error) {
	if err := caller.NeedsIn(access.Write, which); err != nil {
		return company.Company{}, err
	}
	return store.UpdateOnce(ctx, s.store, once, which, func(ctx context.Context, tx store.Tx) (company.Company, error) {
		current, err := tx.Companies().Lock(ctx, which)
		if err != nil {
			return company.Company{}, err
		}
		if err := match.Check(current.Version); err != nil {
			return company.Company{}, err
		}
		next, happened, err := ask(current, tx.Now())
		if err != nil || happened == nil {
			return current, err
		}
		if err := tx.Companies().Save(ctx, next); err != nil {
			return company.Company{}, err
		}
		return next, tx.Record(ctx, happened.By(caller.Actor))
	})
}
