package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
)

// WebhookReader reads the endpoints of webhooks.
type WebhookReader interface {
	Getter[id.Webhook, webhook.Endpoint]
	Lister[webhook.Endpoint]
}

// Webhooks reads and changes the endpoints of webhooks.
type Webhooks interface {
	WebhookReader

	// The queue of an endpoint that is added begins at the end of the outbox. What enters the outbox from when Save disables an
	// endpoint until Save enables it again is skipped by its queue. Then the queue continues: with its pending
	// deliveries, and with the events that waited when it was disabled.
	Repository[id.Webhook, webhook.Endpoint]

	// Count returns how many endpoints there are. It is exact even if concurrent units add endpoints.
	Count(ctx context.Context) (int, error)

	// Remove removes an endpoint and its queue. Its deliveries are hidden from then on, and removed by Deliveries.Purge.
	Remove(ctx context.Context, which id.Webhook) error
}

// DeliveryReader reads deliveries. Those of a removed company are hidden, except from Due.
type DeliveryReader interface {
	// Get returns a delivery to an endpoint, or fault.NotFound.
	Get(ctx context.Context, endpoint id.Webhook, which id.Delivery) (webhook.Delivery, error)

	// List returns at most size deliveries to an endpoint, after the position after: newest first, and by descending id within
	// one instant.
	List(ctx context.Context, filter DeliveryFilter, after page.Position, size int) (page.Page[webhook.Delivery], error)

	// Due returns deliveries to an endpoint whose next attempt is due at the given instant: at most most of those that were
	// not tried since they were made or redelivered, in the order in which they were made, then at most most others, in the
	// order in which they are due.
	Due(ctx context.Context, endpoint id.Webhook, at time.Time, most int) ([]webhook.Delivery, error)
}

// DeliveryFilter says which deliveries a list holds: those that meet every condition that is set.
type DeliveryFilter struct {
	Endpoint id.Webhook
	Status   webhook.Status // "": any
}

// Deliveries reads and changes deliveries. Its writes need no event.
type Deliveries interface {
	DeliveryReader

	// Lock is Get, and keeps every other unit from changing the delivery until this one ends.
	Lock(ctx context.Context, endpoint id.Webhook, which id.Delivery) (webhook.Delivery, error)

	// LockAll locks the given deliveries to an endpoint that exist, and returns them by their ids. Those of removed companies
	// are among them.
	LockAll(ctx context.Context, endpoint id.Webhook, which []id.Delivery) (map[id.Delivery]webhook.Delivery, error)

	// Add inserts a delivery. If it is pending, its endpoint's queue is due when it is.
	Add(ctx context.Context, delivery webhook.Delivery) error

	// AddAll inserts deliveries. It wakes no queue: the caller has the lease.
	AddAll(ctx context.Context, deliveries []webhook.Delivery) error

	// Save replaces a delivery that was locked in this unit. If it is pending, its endpoint's queue is due when it is.
	Save(ctx context.Context, delivery webhook.Delivery) error

	// Purge removes deliveries whose endpoint is gone and, among those that were added first, those that were made before
	// the given instant: at most most of all. It returns how many it removed.
	Purge(ctx context.Context, before time.Time, most int) (int, error)
}
