package goals

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Goals.
type Service struct {
	purposes[id.Goal, goal.Goal]
}

var _ inbound.Goals = (*Service)(nil)

// New returns the use cases of goals.
func New(s store.Store, ids outbound.IDs) *Service {
	return &Service{purposes[id.Goal, goal.Goal]{
		store: s, ids: ids, scope: budget.OfGoal,
		from: func(r store.Reader) reader[id.Goal, goal.Goal] { return r.Goals() },
		in:   func(tx store.Tx) writer[id.Goal, goal.Goal] { return tx.Goals() },
	}}
}

// List returns a page of the goals of a company.
func (s *Service) List(ctx context.Context, caller access.Caller, list inbound.GoalList) (page.Page[goal.ShownGoal], error) {
	return s.list(ctx, caller, list.Company, func(ctx context.Context, r store.Reader) (page.Page[goal.Goal], error) {
		filter := store.GoalFilter{Company: list.Company, Status: list.Status, Words: list.Words}
		return r.Goals().List(ctx, filter, list.After, list.Size)
	})
}

// Create makes a goal.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft goal.Draft, once idempotency.Request,
) (goal.ShownGoal, error) {
	return s.create(ctx, caller, of, once, func(_ context.Context, tx store.Tx, newID id.Goal) (goal.Goal, event.Event, error) {
		return goal.New(newID, of, draft, tx.Now())
	})
}

// Update merges a patch into a goal.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which id.Goal, patch goal.Draft, match precondition.Match,
) (goal.ShownGoal, error) {
	return s.change(ctx, caller, store.Request{Match: match, Company: of}, which,
		func(_ context.Context, tx store.Tx, current goal.ShownGoal) (goal.Goal, *event.Event, error) {
			return current.Of.Apply(patch, current.Work, tx.Now())
		}, nil)
}

// Close ends a goal.
func (s *Service) Close(
	ctx context.Context, caller access.Caller, of id.Company, which id.Goal, sent goal.Closing, match precondition.Match,
	once idempotency.Request,
) (goal.ShownGoal, error) {
	return s.change(ctx, caller, store.Request{Match: match, Once: once, Company: of}, which,
		func(_ context.Context, tx store.Tx, current goal.ShownGoal) (goal.Goal, *event.Event, error) {
			next, closed, err := current.Of.Close(sent, current.Work, tx.Now())
			return next, &closed, err
		}, nil)
}
