package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/cost"
	"holdco/domain/dashboard"
	"holdco/domain/id"
	"holdco/domain/page"
)

// Dashboard are the use cases of what a company looks like as a whole. All need Read; a company that is unknown, or that the caller may
// not know of, is fault.NotFound. Their cost does not grow with issues, runs and cost entries. What they return is at most two
// seconds old.
type Dashboard interface {
	// Overview returns a company at a glance.
	Overview(ctx context.Context, caller access.Caller, of id.Company) (Seen[dashboard.Overview], error)

	// Inbox returns what waits for a person in a company.
	Inbox(ctx context.Context, caller access.Caller, of id.Company) (Seen[dashboard.Inbox], error)

	// Health returns how the agents of a company are.
	Health(ctx context.Context, caller access.Caller, of id.Company) (Seen[dashboard.Health], error)

	// Activity returns what happened last in a company.
	Activity(ctx context.Context, caller access.Caller, of id.Company) (Seen[dashboard.Entries], error)

	// AllInboxes returns a page of what waits for a person in the active companies that the caller may see, or in one company: what has
	// waited longest comes first. It is as it is now.
	AllInboxes(ctx context.Context, caller access.Caller, query InboxQuery) (page.Page[dashboard.Item], error)

	// Costs returns what a company costs.
	Costs(ctx context.Context, caller access.Caller, of id.Company) (Seen[cost.Glance], error)

	// Org returns who works for a company.
	Org(ctx context.Context, caller access.Caller, of id.Company) (Seen[dashboard.Org], error)
}

// InboxQuery says which part of the inboxes is listed.
type InboxQuery struct {
	Company id.Company // "": all
	After   page.Position
	Size    int
}

// Seen is something as it was at an instant by the clock of the store.
type Seen[T any] struct {
	It T
	At time.Time
}
