package store

import (
	"context"
	"time"

	"holdco/domain/audit"
	"holdco/domain/id"
	"holdco/domain/retention"
)

// RetentionReader reads what may be old enough to be removed, oldest first, and what was.
type RetentionReader interface {
	// State returns what is kept of the removal of a kind.
	State(ctx context.Context, of retention.Kind) (retention.State, error)

	// Entries returns at most most entries of the activity log that were made before an instant and come after another one: the zero
	// value is before all.
	Entries(ctx context.Context, before time.Time, after OldEntry, most int) ([]OldEntry, error)

	// Checkpoints is Entries of checkpoints of runs.
	Checkpoints(ctx context.Context, before time.Time, after OldCheckpoint, most int) ([]OldCheckpoint, error)

	// Run returns what of a run decides whether its log may go, or fault.NotFound.
	Run(ctx context.Context, which id.Run) (retention.Run, error)

	// RemovedLeads is Entries of leads that were removed, but for the one with the largest key: the next lead gets the next key.
	RemovedLeads(ctx context.Context, before time.Time, after OldLead, most int) ([]OldLead, error)

	// Stub returns what stands in a chain for the entries that were removed; nil: none was.
	Stub(ctx context.Context, of id.Company) (*audit.SignedStub, error)

	// Stubs returns all of them.
	Stubs(ctx context.Context) ([]audit.SignedStub, error)
}

// Retention removes what is old enough. The removals need no event: a pass is one, which may take many units.
type Retention interface {
	RetentionReader

	// Hold is State, and keeps other units from removing the same kind until this one ends.
	Hold(ctx context.Context, of retention.Kind) (retention.State, error)

	// Save replaces the state of a kind.
	Save(ctx context.Context, of retention.Kind, state retention.State) error

	// RemoveEntries removes entries of the activity log, with their links, but for a link that is right before an entry that stays: by
	// that the latter can still be checked.
	RemoveEntries(ctx context.Context, which []OldEntry) error

	RemoveCheckpoints(ctx context.Context, which []OldCheckpoint) error

	RemoveLeads(ctx context.Context, which []OldLead) error

	// SaveStub replaces the stub of a chain. It fails when the company has been removed.
	SaveStub(ctx context.Context, stub audit.SignedStub) error
}

// OldEntry is an entry of the activity log that may be old enough.
type OldEntry struct {
	ID      id.Entry
	Company id.Company // empty: none
	retention.Entry
	Link  audit.Link // zero: it is not chained, or its company is being deleted
	Bytes int64      // of what was recorded
}

// OldCheckpoint is a checkpoint that may be old enough.
type OldCheckpoint struct {
	At     time.Time
	Run    id.Run
	Number int
	Of     retention.Run
	Bytes  int64
}

// OldLead is a lead that was removed.
type OldLead struct {
	Key       int64
	ID        id.Lead
	RemovedAt time.Time
}
