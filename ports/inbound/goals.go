package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/text"
)

// Goals are the use cases of goals. All are about the goals of one company: an unknown goal is fault.NotFound, and so is one of another
// company, and a company that the caller may not know of. Reads need Read, and writes Write. Writes fail with fault.CompanyArchived or
// fault.InvalidTransition while the company takes no changes.
type Goals interface {
	// List returns a page of the goals that match, newest first.
	List(ctx context.Context, caller access.Caller, list GoalList) (page.Page[goal.ShownGoal], error)

	Get(ctx context.Context, caller access.Caller, of id.Company, which id.Goal) (goal.ShownGoal, error)

	// Create makes a goal. The faults are those of goal.New.
	Create(ctx context.Context, caller access.Caller, of id.Company, draft goal.Draft, once idempotency.Request) (goal.ShownGoal, error)

	// Update merges a patch. The faults are fault.PreconditionFailed and those of goal.Goal.Apply.
	Update(
		ctx context.Context, caller access.Caller, of id.Company, which id.Goal, patch goal.Draft, match precondition.Match,
	) (goal.ShownGoal, error)

	// Close ends a goal. The faults are fault.PreconditionFailed and those of goal.Goal.Close.
	Close(
		ctx context.Context, caller access.Caller, of id.Company, which id.Goal, sent goal.Closing, match precondition.Match,
		once idempotency.Request,
	) (goal.ShownGoal, error)
}

// GoalList selects a page of goals.
type GoalList struct {
	Company id.Company
	Status  []goal.Status // nil: any
	Words   text.Words    // in the title or the description; nil: any
	After   page.Position
	Size    int // page.MinSize to page.MaxSize
}

// Projects are the use cases of projects, with the faults of Goals.
type Projects interface {
	// List returns a page of the projects that match, newest first. A goal that the company does not have is fault.NotFound.
	List(ctx context.Context, caller access.Caller, list ProjectList) (page.Page[goal.ShownProject], error)

	Get(ctx context.Context, caller access.Caller, of id.Company, which id.Project) (goal.ShownProject, error)

	// Create makes a project. The faults are those of goal.NewProject.
	Create(
		ctx context.Context, caller access.Caller, of id.Company, draft goal.ProjectDraft, once idempotency.Request,
	) (goal.ShownProject, error)

	// Update merges a patch. The faults are fault.PreconditionFailed and those of goal.Project.Apply.
	Update(
		ctx context.Context, caller access.Caller, of id.Company, which id.Project, patch goal.ProjectDraft, match precondition.Match,
	) (goal.ShownProject, error)

	// Archive ends a project. Its open issues are cancelled, the last of them after Archive has returned. The faults are
	// fault.PreconditionFailed and those of goal.Project.Archive.
	Archive(
		ctx context.Context, caller access.Caller, of id.Company, which id.Project, sent goal.Archiving, match precondition.Match,
		once idempotency.Request,
	) (goal.ShownProject, error)
}

// ProjectList selects a page of projects.
type ProjectList struct {
	Company id.Company
	Goal    string               // the id of a goal; "": any
	Status  []goal.ProjectStatus // nil: any
	Words   text.Words           // in the title or the description; nil: any
	After   page.Position
	Size    int // page.MinSize to page.MaxSize
}
