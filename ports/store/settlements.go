package store

import (
	"context"

	"holdco/domain/event"
	"holdco/domain/id"
)

// Settlement is the rest of a change that touches more rows than one unit of work may: what remains is done later, in order, a
// part in each unit.
type Settlement struct {
	ID      id.Settlement
	Company id.Company
	Kind    SettlementKind
	Subject string // what it is about
	Other   string // see the kinds
	Epoch   int64  // see the kinds
	After   string // the last issue for which it has been done; empty: none
	Actor   event.Actor
}

// SettlementKind says what is left to do.
type SettlementKind string

// The kinds.
const (
	CancelBelow   SettlementKind = "cancel_below"   // of the issue Subject: the open ones below are cancelled, for the reason Other, if any
	CountBlockers SettlementKind = "count_down"     // the issue Subject has ended: what waits for it counts its blockers again
	Replace       SettlementKind = "replace"        // the issue Subject is retried by Other, which blocks in its place
	Revoke        SettlementKind = "revoke"         // the leases of the company before Epoch have ended: their issues go back to the queue
	CancelProject SettlementKind = "cancel_project" // the project Subject is archived: its open issues are cancelled, and those below
	Abandon       SettlementKind = "abandon"        // the agent Subject has retired: its issues go back to the queue
)

// SettlementReader reads what is left to do.
type SettlementReader interface {
	// Pending returns the settlement with the least id of each of at most most companies that are not being deleted.
	Pending(ctx context.Context, most int) ([]Settlement, error)

	// Count counts the settlements of all companies. It also returns the least id; empty: there is none.
	Count(ctx context.Context) (count int, least id.Settlement, err error)
}

// Settlements reads and changes what is left to do. It is a step of a change whose event another unit recorded.
type Settlements interface {
	SettlementReader

	// Lock is as of Repository; what is not there is fault.NotFound.
	Lock(ctx context.Context, which id.Settlement) (Settlement, error)

	Add(ctx context.Context, added Settlement) error
	Remove(ctx context.Context, which id.Settlement) error
}
