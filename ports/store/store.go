package store

import (
	"context"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
)

// Store stores everything. It is safe for concurrent use by many goroutines and, if its engine can, by many processes. Its own
// Reader methods run single statements; use View to read several things on one snapshot.
type Store interface {
	Reader

	// View runs read on one snapshot: it sees all of a committed Update or nothing of it, and nothing that commits
	// after it began.
	View(ctx context.Context, read func(ctx context.Context, r Reader) error) error

	// Update runs write as one serializable unit of work, a transaction; Tx.Turn says how far that holds in a turn. If write returns
	// nil, it is committed and durable before Update returns nil; otherwise it is rolled back. The outcome is unknown only if Update
	// returns fault.Unavailable.
	//
	// Write may run more than once, because a unit that conflicts with another is retried. So it must use only tx and its own
	// variables, which it sets again on each run: no network, no files, no channels. It must not begin another View or
	// Update, and must not use tx after it returned. Split work of more than 50 ms into several units.
	//
	// A unit that changes business rows and neither records an event nor calls Unrecorded is a defect and does not
	// commit.
	Update(ctx context.Context, write func(ctx context.Context, tx Tx) error) error

	// Outgoing receives a value when work for webhooks was committed through this store: an event that they send, a pending
	// delivery, or a queue that was released with work left. It buffers one value.
	Outgoing() <-chan struct{}

	// Raised makes a channel receive a value, unless it is full, when a unit that raised a work revision was committed through
	// this store.
	Raised(into chan<- struct{})

	// Recorded makes a channel receive a value, unless it is full, when a unit that recorded an event was committed through this store.
	Recorded(into chan<- struct{})

	// Ready fails unless the store answers, accepts writes, and has exactly the schema that this program needs.
	Ready(ctx context.Context) error

	// Tidy gives some of the space that removals have left back to the disk, where the engine does not do so itself, and reports whether
	// there is more to do. It holds up writes for about 50 ms at most.
	Tidy(ctx context.Context) (more bool, err error)

	// Sizes returns how many bytes the store takes on its disk.
	Sizes(ctx context.Context) (Sizes, error)
}

// Sizes are how many bytes a store takes.
type Sizes struct {
	Data int64

	HasLog bool
	Log    int64 // what is still to be copied into the data
}

// Reader reads what is committed, and in a Tx also what its own unit wrote.
type Reader interface {
	// StoreNow is the time by the clock of the store, which every process that works on it reads, unlike its own: UTC, whole
	// milliseconds, rounded down. It is read when StoreNow is first called in a View or a Tx, and stays the same in it.
	//
	// In a unit that took its turn it is not before what the units saw that had the turn earlier, unless the clock stepped
	// back. Who holds something until an instant, in whatever process, measures it by this clock.
	StoreNow(ctx context.Context) (time.Time, error)

	Companies() CompanyReader
	Teams() TeamReader
	Agents() AgentReader
	Issues() IssueReader
	Runs() RunReader
	Envelopes() EnvelopeReader
	Settlements() SettlementReader
	Costs() CostReader
	Goals() GoalReader
	Projects() ProjectReader
	Workflows() WorkflowReader
	Approvals() ApprovalReader
	ApprovalRules() ApprovalRuleReader
	Tokens() TokenReader
	Sessions() SessionReader
	Partners() PartnerReader
	Activity() ActivityReader
	Webhooks() WebhookReader
	Deliveries() DeliveryReader
	Outbox() OutboxReader
	Removals() RemovalReader
	InstanceKey() InstanceKeyReader
	Leads() LeadReader
	Campaigns() CampaignReader
	Taxonomy() TaxonomyReader
	Imports() ImportReader
	Prices() PriceReader
	Secrets() SecretReader
	Seals() SealReader
	Checks() CheckReader
	Retention() RetentionReader
	Dashboards() DashboardReader
	Backups() BackupReader
	Replicas() ReplicaReader
}

// Tx is one unit of work. Once the engine has given up on it, every further call fails. A write can fail in a later call, or when the
// unit is committed.
type Tx interface {
	// Now is the one instant of this unit, from the clock port: UTC, whole milliseconds. It is read when Now is first called.
	Now() time.Time

	// StoreNow is as in Reader. It reads the store, so Turn comes before it.
	StoreNow(ctx context.Context) (time.Time, error)

	Companies() Companies
	Teams() Teams
	Agents() Agents
	Issues() Issues
	Runs() Runs
	Envelopes() Envelopes
	Settlements() Settlements
	Costs() CostReader
	Goals() Goals
	Projects() Projects
	Workflows() Workflows
	Approvals() Approvals
	ApprovalRules() ApprovalRules
	Tokens() Tokens
	Sessions() Sessions
	Partners() Partners
	Activity() Activity
	Receipts() Receipts
	Webhooks() Webhooks
	Deliveries() Deliveries
	Outbox() Outbox
	Removals() Removals
	InstanceKey() InstanceKey
	Leads() Leads
	Campaigns() Campaigns
	Taxonomy() Taxonomy
	Imports() Imports
	Prices() Prices
	Secrets() Secrets
	Seals() Seals
	Checks() Checks
	Backups() Backups
	Replicas() Replicas
	Retention() Retention

	// Turn makes this unit run before or after every other unit that takes the turn of the same company, never beside one.
	// It is the first call of a unit, which then sees all that the units before it committed. A unit takes one turn.
	//
	// A unit takes the turn if it changes a count, or changes a state depending on other rows that it reads. These have to be rows
	// that others change in the same turn alone, or that it has locked: beside units without the turn it has its snapshot, and may
	// not be serializable.
	Turn(ctx context.Context, company id.Company) error

	// OnSnapshot declares that a snapshot is enough for this unit, which takes no turn: of what was there, it changes only rows that
	// it has locked, and it may run beside units whose changes it does not see. It is the first call of the unit. A serializable
	// unit can fail, and then runs again, because of units that only have rows near its own.
	OnSnapshot(ctx context.Context) error

	// Record sets the time of an event to Now, and its id unless it has one, and inserts it with the changes of this unit. The
	// event must have an actor.
	Record(ctx context.Context, happened event.Event) error

	// Unrecorded declares that the changes of this unit need no event: they are a step of a change whose event another unit
	// records, charges, which are entries of their own, or nothing that a reader of the log would miss, such as the renewal of a
	// lease.
	Unrecorded()
}
