package outbound

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/ratelimit"
)

// Clock returns the current time in UTC, truncated to milliseconds.
type Clock interface {
	Now() time.Time
}

// IDs supplies the bytes of new ids.
type IDs interface {
	id.Source
}

// Entropy supplies cryptographically secure random bits.
type Entropy interface {
	Bits256() [32]byte
}

// Workspaces keeps one directory per company, in which its agents work. Its methods are idempotent.
type Workspaces interface {
	// Make makes the directory of a company unless it exists.
	Make(company id.Company) error

	// Remove removes the directory of a company and everything in it, if it exists.
	Remove(company id.Company) error

	// List returns the companies that have a directory.
	List() ([]id.Company, error)
}

// WorkspaceMender is Workspaces for who finds directories that belong to no company.
type WorkspaceMender interface {
	Workspaces

	// SetAside moves the directory of a company to where List does not find it, with all that is in it.
	SetAside(company id.Company) error
}

// Disk is the disk of this machine.
type Disk interface {
	// Room returns what the disk with a folder has. It fails where that is not known.
	Room(folder string) (Room, error)
}

// Limiter counts requests by the rule of ratelimit.Count. It is safe for concurrent use: a window never admits more
// than its limit.
type Limiter interface {
	// Take asks for one more request under a key. The limit is not Off. It always answers: when a shared counter is
	// unavailable, the process counts by itself.
	Take(ctx context.Context, key ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict
}

// Room is what a disk has.
type Room struct{ Free, Size int64 } // in bytes

// Log is for errors of background work, which no response can report.
type Log interface {
	Error(ctx context.Context, message string, cause error)
}
