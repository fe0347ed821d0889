package projects

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

// Service is the application's inbound.Projects.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Projects = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// List returns a page of the projects of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, list inbound.ProjectList,
) (shown page.Page[goal.ShownProject], err error) {
	of := list.Company
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return shown, err
	}
	err = store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) error {
		filter := store.ProjectFilter{Company: of, Status: list.Status}
		if list.Goal != "" {
			filter.Goal, _ = id.Parse[id.Goal](list.Goal)
			if _, err := store.GetIn(ctx, r.Goals(), of, filter.Goal); err != nil {
				return err
			}
		}
		found, err := r.Projects().List(ctx, filter, list.After, list.Size)
		if err != nil {
			return err
		}
		which := make([]id.Project, len(found.Items))
		for n, one := range found.Items {
			which[n] = one.ID
		}
		issues, err := r.Projects().Issues(ctx, of, which)
		shown = page.Page[goal.ShownProject]{Next: found.Next}
		for _, one := range found.Items {
			shown.Items = append(shown.Items, goal.ShownProject{Project: one, Issues: issues[one.ID]})
		}
		return err
	})
	return shown, err
}

// Get returns one project.
func (s *Service) Get(
	ctx context.Context, caller access.Caller, of id.Company, which id.Project,
) (shown goal.ShownProject, err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return shown, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found, err := store.GetIn(ctx, r.Projects(), of, which)
		if err != nil {
			return err
		}
		shown, err = show(ctx, r.Projects(), found)
		return err
	})
	return shown, err
}

func show(ctx context.Context, in store.ProjectReader, found goal.Project) (goal.ShownProject, error) {
	issues, err := in.Issues(ctx, found.Company, []id.Project{found.ID})
	return goal.ShownProject{Project: found, Issues: issues[found.ID]}, err
}

// Create makes a project.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft goal.ProjectDraft, once idempotency.Request,
) (goal.ShownProject, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return goal.ShownProject{}, err
	}
	newID := id.New[id.Project](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request,
		func(ctx context.Context, tx store.Tx, _ company.Company) (goal.ShownProject, error) {
			made, created, err := goal.NewProject(newID, of, draft, others{ctx, tx, of}, tx.Now())
			if err != nil {
				return goal.ShownProject{}, err
			}
			if err := tx.Projects().Add(ctx, made); err != nil {
				return goal.ShownProject{}, err
			}
			return goal.ShownProject{Project: made}, tx.Record(ctx, created.By(caller.Actor))
		})
}

// Update merges a patch into a project.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which id.Project, patch goal.ProjectDraft, match precondition.Match,
) (goal.ShownProject, error) {
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return s.change(ctx, caller, request, which,
		func(ctx context.Context, tx store.Tx, current goal.ShownProject) (goal.Project, *event.Event, error) {
			return current.Apply(patch, current.Issues, others{ctx, tx, of}, tx.Now())
		}, nil)
}

// Archive ends a project, and cancels its open issues.
func (s *Service) Archive(
	ctx context.Context, caller access.Caller, of id.Company, which id.Project, sent goal.Archiving, match precondition.Match,
	once idempotency.Request,
) (goal.ShownProject, error) {
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: of}
	return s.change(ctx, caller, request, which,
		func(_ context.Context, tx store.Tx, current goal.ShownProject) (goal.Project, *event.Event, error) {
			next, archived, err := current.Archive(sent, current.Issues, tx.Now())
			return next, &archived, err
		},
		func(ctx context.Context, tx store.Tx) error {
			unit := work.In(tx, s.ids, of, caller.Actor)
			return unit.Begin(ctx, store.Settlement{Kind: store.CancelProject, Subject: string(which)})
		})
}

// change changes a project, and then does what follows from that, if it is not nil. What is returned shows both.
func (s *Service) change(
	ctx context.Context, caller access.Caller, request store.Request, which id.Project,
	move func(ctx context.Context, tx store.Tx, current goal.ShownProject) (goal.Project, *event.Event, error),
	follow func(ctx context.Context, tx store.Tx) error,
) (goal.ShownProject, error) {
	if err := caller.NeedsIn(access.Write, request.Company); err != nil {
		return goal.ShownProject{}, err
	}
	return store.WriteIn(ctx, s.store, request, store.ByID(which), store.Tx.Projects,
		func(ctx context.Context, tx store.Tx, _ company.Company, current goal.Project) (goal.ShownProject, error) {
			shown, err := show(ctx, tx.Projects(), current)
			if err != nil {
				return shown, err
			}
			next, happened, err := move(ctx, tx, shown)
			if err != nil || happened == nil {
				return shown, err
			}
			unit := work.In(tx, s.ids, next.Company, request.Actor)
			err = unit.RebudgetPurpose(ctx, budget.OfProject, string(next.ID), current.Budget, next.Budget)
			if err != nil {
				return shown, err
			}
			if err := tx.Projects().Save(ctx, next); err != nil {
				return shown, err
			}
			if err := tx.Record(ctx, happened.By(request.Actor)); err != nil {
				return shown, err
			}
			if follow == nil {
				return goal.ShownProject{Project: next, Issues: shown.Issues}, nil
			}
			if err := follow(ctx, tx); err != nil {
				return shown, err
			}
			return show(ctx, tx.Projects(), next)
		})
}

// others implements goal.Others in a unit of work.
type others struct {
	ctx context.Context //nolint:containedctx // of the unit
	tx  store.Tx
	of  id.Company
}

func (o others) Goal(which id.Goal) (found goal.Goal, projects int, exists bool, err error) {
	found, err = store.GetIn(o.ctx, o.tx.Goals(), o.of, which)
	if exists, err = store.Exists(err); err != nil || !exists {
		return found, 0, false, err
	}
	projects, err = o.tx.Projects().Count(o.ctx, which)
	return found, projects, true, err
}

func (o others) HasTeam(which id.Team) (bool, error) {
	_, err := store.GetIn(o.ctx, o.tx.Teams(), o.of, which)
	return store.Exists(err)
}
