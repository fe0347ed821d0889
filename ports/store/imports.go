package store

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
)

// ImportReader reads the imports of files that were sent.
type ImportReader interface {
	Getter[id.Import, lead.Import]

	// List returns at most size imports that a filter selects and that come after a position, newest first.
	List(ctx context.Context, filter lead.ImportFilter, after page.Position, size int) (page.Page[lead.Import], error)

	// Running returns the imports that have not ended, in any order.
	Running(ctx context.Context) ([]lead.Import, error)

	// Reported returns at most size of the reported lines that are kept of an import and that come after a position, in the
	// order in which they were added.
	Reported(ctx context.Context, of id.Import, after page.Position, size int) (page.Page[lead.ReportedLine], error)
}

// Imports reads and changes imports of files.
type Imports interface {
	ImportReader
	Locker[id.Import, lead.Import]

	// Add inserts a new import.
	Add(ctx context.Context, added lead.Import) error

	// Save replaces an import that this unit has locked by its next version.
	Save(ctx context.Context, saved lead.Import) error

	// Report adds reported lines to an import that has before of them, unless they are there already. It needs no event.
	Report(ctx context.Context, to id.Import, before int, lines []lead.ReportedLine) error

	// Purge removes imports that have ended but the newest keep, with their reported lines: at most most rows. It returns how
	// many, and needs no event.
	Purge(ctx context.Context, keep, most int) (int, error)
}
