package sqlite

import (
	"context"
	"database/sql"
	"runtime"
	"time"
)

// lookups is the pool of reads that find a few rows by an index. It is apart from that of long reads, so that slow views and
// lists do not delay a request that only looks something up, such as its token.
//
// A lookup is admitted here, with the caller's context, and then runs without it: package sql and the driver each start a
// goroutine for a context that can be canceled, which costs as much as the lookup. Because no more are admitted than there
// are connections, none waits in the pool.
type lookups struct {
	pool       *sql.DB
	statements *statementCache
	slots      chan struct{} // a semaphore: one value for each admitted lookup
	end        func()        // is called after an admitted lookup
}

// lookupsAtOnce is how many lookups run at once. They are bound by the processor, and each has a connection with a page cache.
func lookupsAtOnce() int { return min(max(4, 2*runtime.GOMAXPROCS(0)), 32) }

func newLookups(pool *sql.DB) *lookups {
	slots := make(chan struct{}, lookupsAtOnce())
	return &lookups{pool: pool, statements: &statementCache{on: pool}, slots: slots, end: func() { <-slots }}
}

// begin waits until a connection is free, but not longer than waitTimeout or after ctx is done.
func (l *lookups) begin(ctx context.Context) error {
	select {
	case l.slots <- struct{}{}:
		return nil
	default:
	}
	waited := time.NewTimer(waitTimeout)
	defer waited.Stop()
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-waited.C:
		return errBusy
	}
}
