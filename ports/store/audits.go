package store

import (
	"context"

	"holdco/domain/id"
)

// AuditReader compares what is kept of a company with what it follows from, and calls differs with each difference. It reads all that
// there is. In memory it keeps as much as sums, counts and settlements have rows, and two numbers for each open blocker, of which there
// may be many: cycles are found among all of them. It is for a View, whose one snapshot it needs, and takes as long as its context
// allows, or as the engine lets a View take.
type AuditReader interface {
	// Budgets compares what costs are summed up to, what accounts, issues, agents and runs have spent, and what accounts hold, with
	// the cost entries and the open runs.
	Budgets(ctx context.Context, of id.Company, differs func(Difference)) error

	// Issues compares issues with their runs, containers with their steps, and what is derived from issues and counted of them, of
	// teams, agents and slots with these. What a settlement has still to do is no difference.
	Issues(ctx context.Context, of id.Company, differs func(Difference)) error
}

// Audits is AuditReader for a unit of work that mends what differs.
type Audits interface {
	AuditReader

	// Mend makes what differs as it should be, as far as each Difference.Mend allows, and raises the version of the company and of
	// what it changes. The differences are those of an AuditReader that saw the company with a version. If that is another now, or the
	// company is gone or is being deleted, nothing is changed, and isDone is false: somebody may have mended it meanwhile. It fails if
	// one has no Mend of this store. It is for a unit that has the turn of the company.
	Mend(ctx context.Context, of id.Company, version int64, some []Difference) (isDone bool, err error)
}

// Difference is one thing that is not as it should be.
type Difference struct {
	Rule   string // what is compared, such as "account.held"
	About  string // the id of what it is about
	Where  string // which of several values of it; empty: there is one
	Kept   string // what the store has
	Should string // what follows from the rows that it is derived from
	Mend   any    // for Audits.Mend; nil: it cannot be derived anew
}
