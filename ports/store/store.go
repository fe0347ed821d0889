package store

import (
	"context"
	"time"

	"holdco/domain/event"
)

// Store keeps everything. It is safe for use by many goroutines and, when its engine can, by many processes at once.
// Its own Reader methods run single statements; several reads that must agree belong in a View.
type Store interface {
	Reader

	// View runs read on one snapshot: it sees all of a committed Update or nothing of it, and nothing that commits
	// after it began.
	View(ctx context.Context, read func(ctx context.Context, r Reader) error) error

	// Update runs write as one serializable unit of work: when write returns nil everything it did is durable before
	// Update returns nil; otherwise nothing of it ever happened. The outcome is unknown only when Update returns
	// fault.Unavailable.
	//
	// Write may run more than once, so it must touch nothing but tx and its own variables, which it sets anew on each
	// run: no network, no files, no channels. It must not begin another View or Update, and must not use tx after it
	// returned. Work of more than 50 ms belongs in several units.
	//
	// A unit that changes business rows and neither records an event nor calls Unrecorded is a defect and does not
	// commit.
	Update(ctx context.Context, write func(ctx context.Context, tx Tx) error) error

	// Outgoing holds a value when work for webhooks was committed through this store since it was last read: an event that
	// they send, a delivery that is pending, or a queue that was released with work left.
	Outgoing() <-chan struct{}

	// Ready fails unless the store answers, takes writes, and has exactly the schema that this program needs.
	Ready(ctx context.Context) error
}

// Reader reads what is committed, and in a Tx also what its own unit wrote.
type Reader interface {
	Companies() CompanyReader
	Teams() TeamReader
	Tokens() TokenReader
	Partners() PartnerReader
	Activity() ActivityReader
	Webhooks() WebhookReader
	Deliveries() DeliveryReader
	Outbox() OutboxReader
	Removals() RemovalReader
	Key() KeyReader
	Leads() LeadReader
	Campaigns() CampaignReader
	Taxonomy() TaxonomyReader
}

// Tx is one unit of work. Once the engine has given up on it, every further call fails.
type Tx interface {
	// Now is the one instant of this unit, from the clock port: UTC, whole milliseconds.
	Now() time.Time

	Companies() Companies
	Teams() Teams
	Tokens() Tokens
	Partners() Partners
	Activity() ActivityReader
	Receipts() Receipts
	Webhooks() Webhooks
	Deliveries() Deliveries
	Outbox() Outbox
	Removals() Removals
	Key() Key
	Leads() Leads
	Campaigns() Campaigns
	Taxonomy() Taxonomy

	// Record stamps an event with Now, and with an id unless it has one, and keeps it with the changes of this unit. The
	// event must name its actor.
	Record(ctx context.Context, happened event.Event) error

	// Unrecorded says that the changes of this unit need no event of their own: they are a step of a change that
	// records its event elsewhere.
	Unrecorded()
}
