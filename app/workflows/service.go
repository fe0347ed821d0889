package workflows

import (
	"context"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/workflow"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Workflows.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Workflows = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// List returns a page of the workflows of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int,
) (found page.Page[workflow.Workflow], err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return found, err
	}
	err = store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) (err error) {
		found, err = r.Workflows().List(ctx, of, after, size)
		return err
	})
	return found, err
}

// Get returns one workflow.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, which string) (workflow.Workflow, error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return workflow.Workflow{}, err
	}
	return store.FindWorkflow(ctx, s.store.Workflows(), of, which)
}

// Create makes a workflow.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft workflow.Draft, once idempotency.Request,
) (workflow.Workflow, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return workflow.Workflow{}, err
	}
	newID := id.New[id.Workflow](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (workflow.Workflow, error) {
		made, created, err := workflow.New(newID, of, draft, others{ctx, tx, of}, tx.Now())
		if err != nil {
			return workflow.Workflow{}, err
		}
		if err := tx.Workflows().Add(ctx, made); err != nil {
			return workflow.Workflow{}, err
		}
		return made, tx.Record(ctx, created.By(caller.Actor))
	})
}

// Update merges a patch into a workflow.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which string, patch workflow.Draft, match precondition.Match,
) (workflow.Workflow, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return workflow.Workflow{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.ChangeIn(ctx, s.store, request, called(of, which), store.Tx.Workflows,
		func(
			ctx context.Context, tx store.Tx, _ company.Company, current workflow.Workflow,
		) (workflow.Workflow, *event.Event, error) {
			next, updated, err := current.Apply(patch, others{ctx, tx, of}, tx.Now())
			if err != nil || updated == nil {
				return current, nil, err
			}
			unit := work.In(tx, s.ids, of, caller.Actor)
			err = unit.RebudgetPurpose(ctx, budget.OfWorkflow, string(next.ID), current.Budget, next.Budget)
			return next, updated, err
		})
}

// Delete removes a workflow that has no open issues.
func (s *Service) Delete(
	ctx context.Context, caller access.Caller, of id.Company, which string, match precondition.Match,
) (workflow.Workflow, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return workflow.Workflow{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.RemoveIn(ctx, s.store, request, called(of, which), store.Tx.Workflows,
		func(ctx context.Context, tx store.Tx, _ company.Company, current workflow.Workflow) (event.Event, error) {
			open, err := tx.Workflows().OpenIssues(ctx, current.ID)
			if err != nil {
				return event.Event{}, err
			}
			deleted, err := current.Delete(open)
			if err != nil {
				return deleted, err
			}
			return deleted, tx.Workflows().Remove(ctx, current.ID)
		})
}

// called finds the workflow of a company that has an id or a slug.
func called(of id.Company, which string) func(ctx context.Context, tx store.Tx) (id.Workflow, error) {
	return func(ctx context.Context, tx store.Tx) (id.Workflow, error) {
		found, err := store.FindWorkflow(ctx, tx.Workflows(), of, which)
		return found.ID, err
	}
}

// others implements workflow.Others in a unit of work.
type others struct {
	ctx context.Context //nolint:containedctx // of the unit
	tx  store.Tx
	of  id.Company
}

func (o others) HasSlug(slug string) (bool, error) {
	_, err := o.tx.Workflows().BySlug(o.ctx, o.of, slug)
	return store.Exists(err)
}

func (o others) Team(which string) (id.Team, bool, error) {
	found, err := store.FindTeam(o.ctx, o.tx.Teams(), o.of, which)
	exists, err := store.Exists(err)
	return found.ID, exists, err
}
