package store

import (
	"context"
	"time"

	"holdco/domain/doctor"
	"holdco/domain/id"
)

// CheckReader compares what is kept of a company with what it follows from, and calls differs with each difference. It reads all that
// there is. In memory it keeps as much as sums, counts and settlements have rows, and two numbers for each open blocker, of which there
// may be many: cycles are found among all of them. It is for a View, whose one snapshot it needs, and takes as long as its context
// allows, or as the engine lets a View take.
type CheckReader interface {
	// Budgets compares what costs are summed up to, what accounts, issues, agents and runs have spent, and what accounts hold, with
	// the cost entries and the open runs.
	Budgets(ctx context.Context, of id.Company, differs func(Difference)) error

	// Issues compares issues with their runs, containers with their steps, and what is derived from issues and counted of them with
	// these. What a settlement has still to do is no difference.
	Issues(ctx context.Context, of id.Company, differs func(Difference)) error

	// Staff compares the counts of teams, agents and slots with these.
	Staff(ctx context.Context, of id.Company, differs func(Difference)) error

	// Companies compares the states of all companies with their dates, at an instant.
	Companies(ctx context.Context, at time.Time, differs func(Difference)) error

	// Activity compares the activity log with what was made, with its own order, and with an instant.
	Activity(ctx context.Context, at time.Time, differs func(Difference)) error

	// Newest returns when the last entry of the activity log was made, by its place; the zero time if there is none. It sees one at once
	// that a stream has still to wait for.
	Newest(ctx context.Context) (time.Time, error)

	// Outbox compares the queues of webhooks and what they have sent with the outbox, at an instant.
	Outbox(ctx context.Context, at time.Time, differs func(Difference)) error

	// Leads compares what is shown of leads with what they are found by, and returns how many it has looked at: all, if most is 0 or
	// there are no more, and else most or a few more, spread evenly. The nth of those that are between two of these is taken: so that
	// others are looked at another time.
	Leads(ctx context.Context, most int, nth int64, differs func(Difference)) (looked int64, err error)
}

// Checks is CheckReader for a unit of work that mends what differs.
type Checks interface {
	CheckReader

	// Mend makes what differs as it should be, as far as each Difference.Mend allows, and raises the version of the company and of
	// what it changes. The differences are those of an CheckReader that saw the company with a version. If that is another now, or the
	// company is gone or is being deleted, nothing is changed, and isDone is false: somebody may have mended it meanwhile. It fails if
	// one has no Mend of this store. It is for a unit that has the turn of the company.
	Mend(ctx context.Context, of id.Company, version int64, some []Difference) (isDone bool, err error)

	// MendAny is Mend for differences that belong to no company. Whoever else has mended them meanwhile does not matter.
	MendAny(ctx context.Context, some []Difference) error
}

// Difference is one thing that is not as it should be.
type Difference struct {
	Rule   string // what is compared, such as "account.held"
	About  string // the id of what it is about
	Where  string // which of several values of it; empty: there is one
	Kept   string // what the store has
	Should string // what follows from the rows that it is derived from
	Mend   any    // for Checks.Mend or MendAny; nil: it cannot be derived anew

	IsMild bool   // nothing is wrong yet
	Text   string // says it, with what to do; empty: the fields above do
}

// Inspector looks at the database that a store is in, rather than at its rows. What it calls differs with is mended by Checks.MendAny.
type Inspector interface {
	// Open returns what the database is, in a few words, and compares its settings with those that a store needs.
	Open(ctx context.Context, differs func(Difference)) (what string, err error)

	// Schema compares the tables, columns and indexes with those that a new store of this program has. Others are passed over.
	Schema(ctx context.Context, differs func(Difference)) error

	// Integrity looks for damage. It reads all that there is.
	Integrity(ctx context.Context, differs func(Difference)) error

	// Space returns what the store takes, with Room less than 0. Where is the folder that it grows in, or empty if that is on another
	// machine.
	Space(ctx context.Context) (doctor.Space, error)

	// Tables returns how large the tables are, with their indexes.
	Tables(ctx context.Context) ([]doctor.TableSize, error)

	// Leftovers returns what restorations have left in the database that were killed, and that nobody works on. The next one removes it.
	Leftovers(ctx context.Context) (names []string, err error)

	// RemoveLeftover removes one of them, unless it is gone, or somebody works on it.
	RemoveLeftover(ctx context.Context, name string) error

	// TruncateLog copies the write-ahead log into the store and empties it, if there is one, as far as others let it.
	TruncateLog(ctx context.Context) error

	// GiveBack writes the store anew, once, so that what becomes free of its file is given back to the disk from then on. It does nothing
	// while a server has the store.
	GiveBack(ctx context.Context) error
}
