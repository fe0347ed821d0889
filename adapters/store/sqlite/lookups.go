package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// lookups are the connections of brief reads. They are apart from those of long reads, so that slow views and lists hold
// up no request that only looks something up, such as its token.
//
// A read is admitted here, with the caller's context, and then runs without it: package sql and the driver start a
// goroutine each for a context that can be canceled, which costs as much as the read. As no more are admitted than there
// are connections, a read does not wait in the pool.
type lookups struct {
	pool     *sql.DB
	compiled *compiled
	slots    chan struct{} // holds a value for each read that is admitted
	end      func()        // is called after an admitted read
}

// maxLookups is how many brief reads run at once. They wait for the processor alone.
const maxLookups = 8

func newLookups(pool *sql.DB) *lookups {
	slots := make(chan struct{}, maxLookups)
	return &lookups{pool: pool, compiled: &compiled{on: pool}, slots: slots, end: func() { <-slots }}
}

// begin waits for a connection to be free, for a limited time or until the caller leaves.
func (l *lookups) begin(ctx context.Context) error {
	select {
	case l.slots <- struct{}{}:
		return nil
	default:
	}
	waited := time.NewTimer(patience)
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
