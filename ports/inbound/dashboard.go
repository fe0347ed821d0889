package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/cost"
	"holdco/domain/dashboard"
	"holdco/domain/id"
)

// Dashboard are the use cases of what a company looks like as a whole. All need Read; a company that is unknown, or that the caller may
// not know of, is fault.NotFound. Their cost does not grow with issues, runs and cost entries. What they return is at most two
// seconds old.
type Dashboard interface {
	// Costs returns what a company costs.
	Costs(ctx context.Context, caller access.Caller, of id.Company) (Seen[cost.Glance], error)

	// Org returns who works for a company.
	Org(ctx context.Context, caller access.Caller, of id.Company) (Seen[dashboard.Org], error)
}

// Seen is something as it was at an instant by the clock of the store.
type Seen[T any] struct {
	It T
	At time.Time
}
