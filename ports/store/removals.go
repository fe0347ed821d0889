package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
)

// RemovalReader reads what removed companies have left behind.
type RemovalReader interface {
	// Due returns at most most removals whose check is due at the given instant, the longest overdue first.
	Due(ctx context.Context, at time.Time, most int) ([]Removal, error)
}

// Removal is a company that was removed and of which something may be left: events that a queue has not passed yet,
// deliveries, and endpoints that are bound to it. Its events and deliveries are hidden from every reader except those that
// send them.
type Removal struct {
	Company   id.Company
	RemovedAt time.Time
}

// Removals purges what removed companies have left behind. A removal begins with Companies.Remove.
type Removals interface {
	RemovalReader

	// Purge at the start removes the deliveries of a removed company that are not pending: at most most. When there are no more of
	// these, and from any other position, it looks at the next most events, oldest first, and removes those that no queue has to pass
	// and no pending delivery carries. Events that were recorded before the given instant go whether they were sent or not. It
	// reports whether there may be more, and how far it came, from where the next Purge goes on; at the end it reports whether
	// anything of the company is left. Endpoints count, enabled or not.
	Purge(
		ctx context.Context, which id.Company, before time.Time, after page.Position, most int,
	) (reached page.Position, more, left bool, err error)

	// Finished returns the endpoints, enabled or not, that are bound to a company that was removed and have nothing left to
	// send: their queues are idle or have passed company.deleted, and none of their deliveries is pending.
	Finished(ctx context.Context, which id.Company) ([]webhook.Endpoint, error)

	// Postpone makes the next check of a removal due at the given instant.
	Postpone(ctx context.Context, which id.Company, until time.Time) error

	// Close ends a removal of which nothing is left.
	Close(ctx context.Context, which id.Company) error
}
