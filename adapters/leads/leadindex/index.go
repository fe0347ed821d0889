package leadindex

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"holdco/domain/lead"
	"holdco/ports/store"
)

// Pace is how often Follow is to be called, so that a change shows within a tenth of a second.
const Pace = 50 * time.Millisecond

const (
	// attempts is how many snapshots a search tries before the store answers it.
	attempts = 3

	// snapshotTimeout is how long a search waits for a newer snapshot before the store answers it.
	snapshotTimeout = 2 * Pace
)

// Index searches the leads of a store. Until it has read them for the first time, and whenever it cannot keep up, the
// store answers instead. It is safe for use by many goroutines.
type Index struct {
	store     store.Store
	mostRange int
	published atomic.Pointer[snapshot] // nil: there is none yet
	epoch     atomic.Pointer[epoch]
	wanted    chan struct{}

	following sync.Mutex
	follower  // guarded by following
}

// epoch is the time in which the store was one and the same. When it is replaced by an older one, another epoch begins.
type epoch struct {
	answered atomic.Int64 // the latest revision of which a page was returned
}

var _ store.LeadSearch = (*Index)(nil)

// New makes an index. It has nothing to answer from before Follow was called.
func New(s store.Store) *Index {
	x := &Index{store: s, mostRange: mostRange, wanted: make(chan struct{}, 1)}
	x.epoch.Store(new(epoch))
	return x
}

// Wanted holds a value when a search waits for Follow.
func (x *Index) Wanted() <-chan struct{} { return x.wanted }

// Search implements store.LeadSearch. No search is answered from an older revision than one that ended before it began.
func (x *Index) Search(ctx context.Context, query lead.Query) (lead.Page, error) {
	for range attempts {
		if len(query.Filter.IDs) > 0 {
			break // the store finds them by its key
		}
		now := x.published.Load()
		if now == nil {
			break
		}
		if int64(now.state.Revision) >= now.epoch.answered.Load() {
			page, err := now.page(ctx, x.store.Leads(), query)
			if err == nil {
				now.epoch.answer(page.State.Revision)
			}
			if !errors.Is(err, errStale) {
				return page, err
			}
		}
		if !x.await(ctx, now) {
			break
		}
	}
	return x.searchStore(ctx, query)
}

// searchStore lets the store answer. A page that was read while an epoch ended may belong to that or to the next, whose
// readers need not see its revision: so it is read again.
func (x *Index) searchStore(ctx context.Context, query lead.Query) (lead.Page, error) {
	for {
		during := x.epoch.Load()
		page, err := x.store.Leads().Search(ctx, query)
		if err != nil {
			return page, err
		}
		if during == x.epoch.Load() {
			during.answer(page.State.Revision)
			return page, nil
		}
	}
}

// answer remembers that a page of a revision was returned.
func (e *epoch) answer(revision lead.Revision) {
	for {
		latest := e.answered.Load()
		if int64(revision) <= latest || e.answered.CompareAndSwap(latest, int64(revision)) {
			return
		}
	}
}

// await reports whether there is a newer snapshot soon.
func (x *Index) await(ctx context.Context, old *snapshot) bool {
	select {
	case x.wanted <- struct{}{}:
	default:
	}
	timeout := time.NewTimer(snapshotTimeout)
	defer timeout.Stop()
	select {
	case <-old.replaced:
		return true
	case <-timeout.C:
	case <-ctx.Done():
	}
	return false
}

// Status describes an index.
type Status struct {
	Ready    bool          // whether the index answers, and not the store
	Revision lead.Revision // to which its answers belong
	Leads    int64
	Dead     int64         // positions that leads had before, and that are not purged yet
	Bytes    uint64        // of memory; the answers that are remembered come on top, twice mostRemembered at most
	Built    time.Duration // how long it took to read the whole store
}

// Status returns the present status of the index.
func (x *Index) Status() Status {
	now := x.published.Load()
	if now == nil {
		return Status{}
	}
	leads := int64(now.live.GetCardinality())
	return Status{
		Ready:    true,
		Revision: now.state.Revision,
		Leads:    leads,
		Dead:     int64(now.columns.rows()) - leads,
		Bytes:    now.bytes() + now.beside,
		Built:    now.built,
	}
}
