package outbound

import (
	"context"
	"time"

	"holdco/domain/id"
)

// Clock tells the time: UTC, cut to whole milliseconds.
type Clock interface {
	Now() time.Time
}

// IDs supplies the bytes of new ids.
type IDs interface {
	id.Source
}

// Entropy supplies random bits that nobody can guess.
type Entropy interface {
	Bits256() [32]byte
}

// Workspaces keeps one directory per company, for its agents to work in. Every method may be repeated.
type Workspaces interface {
	// Make makes the directory of a company unless it is there.
	Make(company id.Company) error

	// Remove removes the directory of a company with all that is in it, if it is there.
	Remove(company id.Company) error

	// List returns the companies that have a directory.
	List() ([]id.Company, error)
}

// Log takes what an operator should know of work that no request waits for.
type Log interface {
	Error(ctx context.Context, message string, cause error)
}
