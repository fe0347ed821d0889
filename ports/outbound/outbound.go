package outbound

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/ratelimit"
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

// Limiter counts requests by the rule of ratelimit.Count. Any number of callers may take at once: a window never admits
// more than its limit.
type Limiter interface {
	// Take asks for one more request under a key. The limit is not Off. It always answers: when the place of the counts
	// is lost, the process goes on with counts of its own.
	Take(ctx context.Context, key ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict
}

// Log takes what an operator should know of work that no request waits for.
type Log interface {
	Error(ctx context.Context, message string, cause error)
}
