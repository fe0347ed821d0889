package goals

import (
	"context"

	"holdco/app/work"
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

// Projects is the application's inbound.Projects.
type Projects struct {
	purposes[id.Project, goal.Project]
}

var _ inbound.Projects = (*Projects)(nil)

// NewProjects returns the use cases of projects.
func NewProjects(s store.Store, ids outbound.IDs) *Projects {
	return &Projects{purposes[id.Project, goal.Project]{
		store: s, ids: ids, scope: budget.OfProject,
		from: func(r store.Reader) reader[id.Project, goal.Project] { return r.Projects() },
		in:   func(tx store.Tx) writer[id.Project, goal.Project] { return tx.Projects() },
	}}
}

// List returns a page of the projects of a company.
func (s *Projects) List(
	ctx context.Context, caller access.Caller, list inbound.ProjectList,
) (page.Page[goal.ShownProject], error) {
	return s.list(ctx, caller, list.Company, func(ctx context.Context, r store.Reader) (found page.Page[goal.Project], err error) {
		filter := store.ProjectFilter{Company: list.Company, Status: list.Status, Words: list.Words}
		if list.Goal != "" {
			filter.Goal, _ = id.Parse[id.Goal](list.Goal)
			if _, err := store.GetIn(ctx, r.Goals(), list.Company, filter.Goal); err != nil {
				return found, err
			}
		}
		return r.Projects().List(ctx, filter, list.After, list.Size)
	})
}

// Create makes a project.
func (s *Projects) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft goal.ProjectDraft, once idempotency.Request,
) (goal.ShownProject, error) {
	return s.create(ctx, caller, of, once,
		func(ctx context.Context, tx store.Tx, newID id.Project) (goal.Project, event.Event, error) {
			return goal.NewProject(newID, of, draft, others{ctx, tx, of}, tx.Now())
		})
}

// Update merges a patch into a project.
func (s *Projects) Update(
	ctx context.Context, caller access.Caller, of id.Company, which id.Project, patch goal.ProjectDraft, match precondition.Match,
) (goal.ShownProject, error) {
	return s.change(ctx, caller, store.Request{Match: match, Company: of}, which,
		func(ctx context.Context, tx store.Tx, current goal.ShownProject) (goal.Project, *event.Event, error) {
			return current.Of.Apply(patch, current.Work, others{ctx, tx, of}, tx.Now())
		}, nil)
}

// Archive ends a project, and cancels its open issues.
func (s *Projects) Archive(
	ctx context.Context, caller access.Caller, of id.Company, which id.Project, sent goal.Archiving, match precondition.Match,
	once idempotency.Request,
) (goal.ShownProject, error) {
	return s.change(ctx, caller, store.Request{Match: match, Once: once, Company: of}, which,
		func(ctx context.Context, tx store.Tx, current goal.ShownProject) (goal.Project, *event.Event, error) {
			all, err := tx.Issues().Tally(ctx, store.Tally{Company: of, Project: which})
			if err != nil {
				return current.Of, nil, err
			}
			next, archived, err := current.Of.Archive(sent, all.Open(), current.Work, tx.Now())
			return next, &archived, err
		},
		func(ctx context.Context, unit *work.Unit) error {
			return unit.Begin(ctx, store.Settlement{Kind: store.CancelProject, Subject: string(which)})
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
