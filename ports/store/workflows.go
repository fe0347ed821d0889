package store

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/domain/workflow"
)

// WorkflowReader reads workflows.
type WorkflowReader interface {
	Getter[id.Workflow, workflow.Workflow]

	// BySlug returns the workflow of a company with a slug, or fault.NotFound.
	BySlug(ctx context.Context, of id.Company, slug string) (workflow.Workflow, error)

	// List returns at most size workflows of a company that come after a position: newest first, and by descending id within one
	// instant.
	List(ctx context.Context, of id.Company, after page.Position, size int) (page.Page[workflow.Workflow], error)

	// OfCompany returns the oldest workflows of a company, at most most of them, oldest first.
	OfCompany(ctx context.Context, which id.Company, most int) ([]workflow.Workflow, error)

	// Steps returns the steps that a workflow had in one of its versions, or fault.NotFound.
	Steps(ctx context.Context, of id.Workflow, version int64) ([]issue.Step, error)

	// OpenIssues counts the open issues that are charged to a workflow.
	OpenIssues(ctx context.Context, of id.Workflow) (workflow.OpenIssues, error)

	// WithStepsFor returns the slugs of the workflows of a company that have a step for a team, in the newest version or, while a
	// container is open, in any: at most most of them, in order.
	WithStepsFor(ctx context.Context, of id.Company, which id.Team, most int) ([]string, error)
}

// Workflows reads and changes workflows. Add and Save keep the steps of each version.
type Workflows interface {
	WorkflowReader

	// No two workflows of a company have one slug. Save does not change the company and CreatedAt, which are permanent.
	Repository[id.Workflow, workflow.Workflow]

	// Remove removes a workflow with all its versions. Its account stays until its company is removed, without a limit.
	Remove(ctx context.Context, which id.Workflow) error
}

// FindWorkflow returns the workflow of a company that has an id or a slug, or fault.NotFound. No slug looks like an id.
func FindWorkflow(ctx context.Context, in WorkflowReader, of id.Company, which string) (workflow.Workflow, error) {
	if text.IsSlug(which) {
		return in.BySlug(ctx, of, which)
	}
	parsed, _ := id.Parse[id.Workflow](which)
	return GetIn(ctx, in, of, parsed)
}
