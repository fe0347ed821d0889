package store

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
)

// SessionReader reads sessions of people.
type SessionReader interface {
	Getter[id.Session, access.Session] // also one that has ended, until Purge

	// ByHash returns the session whose cookie holds a value with this hash, or fault.NotFound. access.Session.Accepts decides
	// whether it is live.
	ByHash(ctx context.Context, hash string) (access.Session, error)

	// List returns at most size sessions that are live at an instant and come after a position, newest first.
	List(ctx context.Context, at time.Time, after page.Position, size int) (page.Page[access.Session], error)
}

// Sessions reads and changes sessions of people, and the codes that begin them.
type Sessions interface {
	SessionReader
	Locker[id.Session, access.Session]

	// Add inserts a new session.
	Add(ctx context.Context, added access.Session) error

	// Remove removes a session, which there must be.
	Remove(ctx context.Context, which id.Session) error

	// Touch moves LastSeenAt of each session forward to the given instant, never back; sessions that do not exist are
	// skipped. It needs no event.
	Touch(ctx context.Context, seen map[id.Session]time.Time) error

	// AddCode inserts a code.
	AddCode(ctx context.Context, added access.LoginCode) error

	// TakeCode removes a code and returns it, or fault.NotFound. Of several units only one gets it.
	TakeCode(ctx context.Context, which id.LoginCode) (access.LoginCode, error)

	// Purge removes sessions and codes whose time was over at an instant, at most most of each kind of end, and returns how
	// many. It needs no event.
	Purge(ctx context.Context, at time.Time, most int) (int, error)
}
