package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/move"
)

// Moves are the use cases that move the store to another one, on the same engine or on the other. All of them need Admin. No server may
// have either store.
type Moves interface {
	// Move copies all rows, or goes on with that, compares both stores, and marks the one that was moved, which nothing opens from then
	// on, unless it is kept in use. It fails with the names of rows that differ. It can be interrupted anywhere.
	Move(ctx context.Context, caller access.Caller, wanted MoveWanted) (move.Moved, error)

	// Abandon undoes what a move has begun that did not end, in the stores that are named: the one that is moved can be used again, and the
	// other one loses its tables. A store that was moved can be used again too, as it was then. If the one to move to is named and From is
	// only the one that is configured, that can be used again if it is being moved there. It returns what it has done, also if it fails.
	Abandon(ctx context.Context, caller access.Caller, wanted MoveWanted) (done []string, err error)
}

// MoveWanted says what is to be moved, and where.
type MoveWanted struct {
	From, To     string // URLs; Abandon needs but one of them
	IsConfigured bool   // nobody has named From: it is the store that is configured
	KeepSource   bool   // the store that was moved can still be used
	Progress     func(now move.Progress)
}
