package backups

import (
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Backups.
type Service struct{ Parts }

// Parts are what the use cases work with.
type Parts struct {
	Engine   string // backup.SQLite or backup.Postgres
	Source   store.Source
	Target   store.Target // nil where nothing is restored
	Archives outbound.Archives
	Spaces   outbound.WorkspaceCopies
	Vault    outbound.Vault // locked: it is only asked whether a key is there
	IDs      outbound.IDs
	Clock    outbound.Clock

	// Doctor makes the checks of a store that was restored.
	Doctor func(of store.Restored) inbound.Doctor

	// Checks are the names of those checks that a restored store has to pass.
	Checks []string
}

var _ inbound.Backups = (*Service)(nil)

// New returns the use cases.
func New(parts Parts) *Service { return &Service{parts} }
