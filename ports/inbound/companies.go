package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/team"
	"holdco/domain/text"
	"holdco/domain/workflow"
)

// Companies are the use cases of companies. An unknown id is fault.NotFound, and so is a company that the caller may
// not know of.
type Companies interface {
	// List needs Read. It returns active and archived companies, newest first.
	List(ctx context.Context, caller access.Caller, list CompanyList) (page.Page[company.Company], error)

	// Get needs Read.
	Get(ctx context.Context, caller access.Caller, which id.Company) (company.Company, error)

	// GetWith needs Read. It reads a company and what belongs to it from one snapshot.
	GetWith(ctx context.Context, caller access.Caller, which id.Company, parts CompanyParts) (CompanyWithParts, error)

	// Create needs Write everywhere. The faults are those of company.New, and fault.SlugInUse, with the id of the
	// company that has the slug if the caller may read it.
	Create(ctx context.Context, caller access.Caller, draft company.Draft, once idempotency.Request) (company.Founding, error)

	// Update needs Write. The faults are fault.PreconditionFailed and those of company.Company.Apply.
	Update(
		ctx context.Context, caller access.Caller, which id.Company, patch company.Patch, match precondition.Match,
	) (company.Company, error)

	// Archive needs Write. The faults are fault.PreconditionFailed and those of company.Company.Archive.
	Archive(
		ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
	) (company.Company, error)

	// Restore needs Write. The faults are fault.PreconditionFailed and those of company.Company.Restore.
	Restore(
		ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
	) (company.Company, error)

	// Delete needs Admin. It returns the company as it was last, once everything of it is gone, or after ten seconds
	// while the removal continues in the background.
	Delete(ctx context.Context, caller access.Caller, which id.Company, match precondition.Match) (CompanyDeletion, error)
}

// CompanyList selects a page of companies.
type CompanyList struct {
	Status company.Status // Active or Archived; "": either, with a Slug
	Slug   *string        // only the company with this slug
	Words  text.Words     // in the name, the slug or the description; nil: any
	After  page.Position
	Size   int // page.MinSize to page.MaxSize
}

// CompanyParts says what to read with a company.
type CompanyParts struct{ Teams, Agents, Workflows, Budgets bool }

// MostParts bounds how many of each kind are read with a company. Lists have all.
const MostParts = 200

// CompanyWithParts is a company with what was to be read with it: the oldest ones, oldest first.
type CompanyWithParts struct {
	Company   company.Company
	Teams     []team.Team
	Agents    []agent.Agent // that are not retired
	Workflows []workflow.Workflow
	Budgets   budget.Envelopes // in the order of Budgets.List
}

// CompanyDeletion is how far a deletion has got.
type CompanyDeletion struct {
	Company company.Company // as it was last, with the status Deleting
	Gone    bool            // nothing of it is left
}
