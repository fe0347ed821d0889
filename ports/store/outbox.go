package store

import (
	"context"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// OutboxReader tells what webhooks have to do.
type OutboxReader interface {
	// Waits reports whether an event waits for its position, or Outbox.Claim would find a queue, at the given instant.
	Waits(ctx context.Context, at time.Time) (bool, error)

	// Next returns at most most events from a position on, in their order, without those that the endpoint's queue passes
	// over.
	Next(ctx context.Context, endpoint id.Webhook, from int64, most int) ([]Placed, error)

	// Backlog measures what is waiting.
	Backlog(ctx context.Context) (Backlog, error)
}

// Placed is an event with its position in the outbox.
type Placed struct {
	event.Event
	Position int64
}

// Backlog is what waits to be sent.
type Backlog struct {
	Unspread int       // events without a position yet
	Pending  int       // deliveries that are pending, those to disabled endpoints too
	DueSince time.Time // since when the longest waiting queue of an enabled endpoint has been, or will be, due; zero: there is none
}

// Outbox is the log of the events that webhooks send, in the order of their positions, and who has got how far in it. An
// event enters it in the unit that records it, if webhooks send such events and any endpoint is enabled then. It gets its
// position later, and leaves with its company.
type Outbox interface {
	OutboxReader

	// Unspread returns at most most events that have no position yet, in the order in which they were recorded: of two
	// changes of one thing the earlier comes first. Only one unit at a time has them.
	Unspread(ctx context.Context, most int) ([]event.Event, error)

	// Idle returns the enabled endpoints in whose queues no event is left. The others look at every event that gets a
	// position.
	Idle(ctx context.Context) ([]webhook.Endpoint, error)

	// Place gives events the next positions, in this order. Of the idle endpoints those that want any of them look at them
	// now: their queues are due.
	Place(ctx context.Context, which []id.Entry, wantedBy []id.Webhook) error

	// Claim leases at most most queues: those of enabled endpoints that are due at Now and that nobody holds, or whose lease
	// has ended. Those that wait longest come first. Units that claim at once get different ones. Each claim has a lease
	// of its own, that no other had before.
	Claim(ctx context.Context, lease string, until time.Time, most int) ([]webhook.Queue, error)

	// Held returns the queue of an endpoint while it is held under the lease, ended or not, and keeps others from claiming it
	// until this unit ends. Otherwise: fault.NotFound.
	Held(ctx context.Context, endpoint id.Webhook, lease string) (webhook.Queue, error)

	// Hold replaces a queue that this unit found to be held.
	Hold(ctx context.Context, queue webhook.Queue) error

	// Release gives a queue back that is held under its lease, and does nothing to one that is not. It is due again at once
	// when there are events from its cursor on, whoever places them meanwhile; otherwise its cursor is 0, and it is due when
	// its first pending delivery is. A cursor of 0 leaves it where it was set meanwhile.
	Release(ctx context.Context, queue webhook.Queue) error
}
