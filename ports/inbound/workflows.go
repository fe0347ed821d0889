package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/workflow"
)

// Workflows are the use cases of workflows. All are about the workflows of one company, which are found by their ids or slugs: an
// unknown workflow is fault.NotFound, and so is one of another company, and a company that the caller may not know of. Reads need Read,
// and writes Write. Writes fail with fault.CompanyArchived or fault.InvalidTransition while the company takes no changes.
type Workflows interface {
	// List returns a page of the workflows, newest first.
	List(
		ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int,
	) (page.Page[workflow.Workflow], error)

	Get(ctx context.Context, caller access.Caller, of id.Company, which string) (workflow.Workflow, error)

	// Create makes a workflow. The faults are those of workflow.New.
	Create(
		ctx context.Context, caller access.Caller, of id.Company, draft workflow.Draft, once idempotency.Request,
	) (workflow.Workflow, error)

	// Update merges a patch. The faults are fault.PreconditionFailed and those of workflow.Workflow.Apply.
	Update(
		ctx context.Context, caller access.Caller, of id.Company, which string, patch workflow.Draft, match precondition.Match,
	) (workflow.Workflow, error)

	// Delete removes a workflow, and returns it as it was last. The faults are fault.PreconditionFailed and those of
	// workflow.Workflow.Delete.
	Delete(
		ctx context.Context, caller access.Caller, of id.Company, which string, match precondition.Match,
	) (workflow.Workflow, error)
}
