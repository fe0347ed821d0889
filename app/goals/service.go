package goals

import (
	"context"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
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
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Goals = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// List returns a page of the goals of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, list inbound.GoalList,
) (shown page.Page[goal.Shown], err error) {
	of := list.Company
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return shown, err
	}
	err = store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) error {
		found, err := r.Goals().List(ctx, store.GoalFilter{Company: of, Status: list.Status}, list.After, list.Size)
		if err != nil {
			return err
		}
		which := make([]id.Goal, len(found.Items))
		for n, one := range found.Items {
			which[n] = one.ID
		}
		done, err := r.Goals().Work(ctx, of, which)
		shown = page.Page[goal.Shown]{Next: found.Next}
		for _, one := range found.Items {
			shown.Items = append(shown.Items, goal.Shown{Goal: one, Work: done[one.ID]})
		}
		return err
	})
	return shown, err
}

// Get returns one goal.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, which id.Goal) (shown goal.Shown, err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return shown, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found, err := store.GetIn(ctx, r.Goals(), of, which)
		if err != nil {
			return err
		}
		shown, err = show(ctx, r.Goals(), found)
		return err
	})
	return shown, err
}

func show(ctx context.Context, in store.GoalReader, found goal.Goal) (goal.Shown, error) {
	done, err := in.Work(ctx, found.Company, []id.Goal{found.ID})
	return goal.Shown{Goal: found, Work: done[found.ID]}, err
}

// Create makes a goal.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft goal.Draft, once idempotency.Request,
) (goal.Shown, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return goal.Shown{}, err
	}
	newID := id.New[id.Goal](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (goal.Shown, error) {
		made, created, err := goal.New(newID, of, draft, tx.Now())
		if err != nil {
			return goal.Shown{}, err
		}
		if err := tx.Goals().Add(ctx, made); err != nil {
			return goal.Shown{}, err
		}
		return goal.Shown{Goal: made}, tx.Record(ctx, created.By(caller.Actor))
	})
}

// Update merges a patch into a goal.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which id.Goal, patch goal.Draft, match precondition.Match,
) (goal.Shown, error) {
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return s.change(ctx, caller, request, which, func(tx store.Tx, current goal.Shown) (goal.Goal, *event.Event, error) {
		return current.Apply(patch, current.Work, tx.Now())
	})
}

// Close ends a goal.
func (s *Service) Close(
	ctx context.Context, caller access.Caller, of id.Company, which id.Goal, sent goal.Closing, match precondition.Match,
	once idempotency.Request,
) (goal.Shown, error) {
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: of}
	return s.change(ctx, caller, request, which, func(tx store.Tx, current goal.Shown) (goal.Goal, *event.Event, error) {
		next, closed, err := current.Close(sent, current.Work, tx.Now())
		return next, &closed, err
	})
}

func (s *Service) change(
	ctx context.Context, caller access.Caller, request store.Request, which id.Goal,
	move func(tx store.Tx, current goal.Shown) (goal.Goal, *event.Event, error),
) (goal.Shown, error) {
	if err := caller.NeedsIn(access.Write, request.Company); err != nil {
		return goal.Shown{}, err
	}
	return store.WriteIn(ctx, s.store, request, store.ByID(which), store.Tx.Goals,
		func(ctx context.Context, tx store.Tx, _ company.Company, current goal.Goal) (goal.Shown, error) {
			shown, err := show(ctx, tx.Goals(), current)
			if err != nil {
				return shown, err
			}
			next, happened, err := move(tx, shown)
			if err != nil || happened == nil {
				return shown, err
			}
			unit := work.In(tx, s.ids, next.Company, request.Actor)
			if err := unit.RebudgetPurpose(ctx, budget.OfGoal, string(next.ID), current.Budget, next.Budget); err != nil {
				return shown, err
			}
			shown.Goal = next
			if err := tx.Goals().Save(ctx, next); err != nil {
				return shown, err
			}
			return shown, tx.Record(ctx, happened.By(request.Actor))
		})
}
