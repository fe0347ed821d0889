package store

import (
	"context"
	"time"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
)

// CostsOf is what costs are summed of: something of a company.
type CostsOf struct {
	Company id.Company
	Scope   budget.Scope
	ID      string  // empty: all of the scope
	Team    id.Team // with no ID: only agents of this team; empty: all
}

// CostReader reads what work has cost. Runs.AddCharges writes it.
type CostReader interface {
	Getter[id.Cost, cost.Entry]

	// Corrections sums the corrections of an entry.
	Corrections(ctx context.Context, of id.Cost) (money.USD, error)

	// Sums sums the entries of pieces of a range by a key. What costs nothing may be missing. Its cost grows with the pieces, and with
	// what there is in them by the key, but with the entries only in pieces of cost.Moments.
	//
	// Pieces of other units are only for what cost.Key.Units returns.
	Sums(ctx context.Context, of CostsOf, pieces []cost.Piece, by cost.Key) (map[string]cost.Sum, error)

	// Lifetime sums all entries of an issue by model. Its cost does not grow with the entries.
	Lifetime(ctx context.Context, of CostsOf) (map[string]cost.Sum, error)

	// List returns at most size entries that come after a position: newest first, and by descending id within one instant.
	List(ctx context.Context, filter CostFilter, after page.Position, size int) (page.Page[cost.Entry], error)

	// Export returns at most size entries that come after one; nil: the first. Oldest first, and by ascending id within one instant.
	// What was charged or corrected later than asOf is left out.
	Export(ctx context.Context, filter CostFilter, after *cost.Entry, asOf time.Time, size int) ([]cost.Entry, error)
}

// CostFilter selects entries of a company; what is empty selects all.
type CostFilter struct {
	Company      id.Company
	Team         id.Team
	Agent        id.Agent
	Project      id.Project
	Issue        id.Issue
	Run          id.Run
	Kind         cost.Kind
	Since, Until time.Time // of At; Until is not part of it
}
