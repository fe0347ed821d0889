package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
)

// Costs are the use cases of what the work of a company costs. What is unknown, or another company's, is fault.NotFound, and so is a
// company that the caller may not know of.
type Costs interface {
	// Report needs Read. It fails with fault.InvalidParameter as cost.ParseRange does.
	Report(ctx context.Context, caller access.Caller, of CostsOf) (cost.Report, error)

	// Forecast needs Read.
	Forecast(ctx context.Context, caller access.Caller, of id.Company) (cost.Forecast, error)

	// Entries needs Admin. It returns a page of entries, newest first. It fails as Report does.
	Entries(ctx context.Context, caller access.Caller, list CostList, after page.Position, size int) (page.Page[cost.Entry], error)

	// Export needs Admin. It begins an export of entries, oldest first: those that are there now, after an entry unless that is empty. It
	// fails as Report does, and with fault.InvalidCursor if there is no such entry.
	Export(ctx context.Context, caller access.Caller, list CostList, after string) (CostExport, error)

	// Adjust needs Admin. It corrects an entry. The faults are those of cost.Adjust, and fault.CompanyArchived or
	// fault.InvalidTransition while the company takes no changes.
	Adjust(
		ctx context.Context, caller access.Caller, of id.Company, draft cost.AdjustmentDraft, once idempotency.Request,
	) (cost.Entry, error)
}

// CostsOf is what a report is about.
type CostsOf struct {
	Company      id.Company
	Scope        budget.Scope
	ID           string // of it; also the slug of a team; not of the company
	Since, Until string // as cost.ParseRange reads them
}

// CostList selects entries; what is empty selects all.
type CostList struct {
	Company        id.Company
	Team           string // its id or its slug
	Agent, Project string
	Issue, Run     string
	Kind           cost.Kind
	Since, Until   string // as cost.ParseRange reads them
}

// CostExport calls take with portion after portion, until that fails or there are no more.
type CostExport func(take func(entries []cost.Entry) error) error
