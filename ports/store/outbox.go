package store

import (
	"context"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// OutboxReader reads what webhooks have to send.
type OutboxReader interface {
	// Work reports what there is to do at the given instant.
	Work(ctx context.Context, at time.Time) (Work, error)

	// Next returns at most most events from a position on, in their order, without those that the endpoint's queue skips.
	Next(ctx context.Context, endpoint id.Webhook, from int64, most int) ([]Queued, error)

	// Events returns the events with these ids that are there, in no particular order. Those of removed companies are
	// among them until they were sent.
	Events(ctx context.Context, which []id.Entry) ([]Queued, error)

	// Backlog counts what is waiting.
	Backlog(ctx context.Context) (Backlog, error)
}

// Work is what there is to do for webhooks.
type Work struct {
	Unqueued bool // an event waits for its position
	Due      bool // Outbox.Claim would find a queue
}

// Queued is an event with its position in the outbox.
type Queued struct {
	event.Event
	Position int64 // 0: it is not in the outbox, such as a test
}

// Backlog is what waits to be sent.
type Backlog struct {
	Unqueued int       // events without a position yet
	Pending  int       // deliveries that are pending, those to disabled endpoints too
	DueSince time.Time // when the first queue of an enabled endpoint was, or will be, due; zero: there is none
}

// Outbox is the log of the events that webhooks send, in the order of their positions, and the queues that read it. An
// event enters it in the unit that records it, if webhooks send such events and any endpoint is enabled then. It gets its
// position later. It is removed with its company, but not before every queue has passed it: see Removals.
type Outbox interface {
	OutboxReader

	// Unqueued returns at most most events that have no position yet, in the order in which they were recorded: of two
	// changes of one thing the earlier comes first. Only one unit at a time has them. They come without Data and Previous.
	Unqueued(ctx context.Context, most int) ([]event.Event, error)

	// Idle returns the enabled endpoints in whose queues no event is left. The others look at every event that gets a
	// position.
	Idle(ctx context.Context) ([]webhook.Endpoint, error)

	// Enqueue gives events the next positions, in this order. It wakes the given ones of the idle endpoints: their queues
	// are due, and begin with these events.
	Enqueue(ctx context.Context, which []id.Entry, wake []id.Webhook) error

	// Claim leases at most most queues: those of enabled endpoints that are due at Now and not leased, or whose lease has
	// ended. Those that wait longest come first. Concurrent units get different ones. Each claim has a lease of its own,
	// which was never used before.
	Claim(ctx context.Context, lease string, until time.Time, most int) ([]webhook.Queue, error)

	// Leased returns the queue of an endpoint if it is under the lease, expired or not, and keeps other units from claiming it
	// until this one ends. Otherwise it returns fault.NotFound.
	Leased(ctx context.Context, endpoint id.Webhook, lease string) (webhook.Queue, error)

	// Save replaces a queue that this unit found to be leased.
	Save(ctx context.Context, queue webhook.Queue) error

	// Hold keeps the queues from being claimed in which something waits, also of disabled endpoints, until Resume, and ends all leases
	// of queues. Events without a position get theirs before. It returns how many queues it held. It needs no event.
	Hold(ctx context.Context) (int, error)

	// Held returns the endpoints whose queues are held, by their ids, most at most.
	Held(ctx context.Context, most int) ([]webhook.Endpoint, error)

	// Resume lets the queue of an endpoint be claimed again, and reports whether it was held.
	Resume(ctx context.Context, endpoint id.Webhook) (bool, error)

	// Release ends the lease of a queue, and does nothing if the queue is not under it. The queue is due again at once if there
	// are events from its cursor on, including those that other units have enqueued meanwhile. Otherwise its cursor is 0,
	// and it is due when its first pending delivery is. A cursor of 0 does not overwrite one that was set meanwhile.
	Release(ctx context.Context, queue webhook.Queue) error
}
