package leadindex

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"holdco/domain/lead"
	"holdco/ports/store"
)

const (
	// mostRange is how many leads a statement reads at most: on ordinary hardware it takes about 50 ms. After a
	// failure statements read half as many, but never fewer than leastRange, until the index has all that the store has.
	mostRange, leastRange = 10_000, 100

	// mostGathered is about how many changes are taken over at once. Each of them may cost that all leads get new positions.
	mostGathered = 100_000

	// longestPause bounds the pause after a failure, which doubles from Pace on with each failure in a row.
	longestPause = 30 * time.Second

	// renumberingShare is how many times as long as it took to give all leads new positions the index pauses, before it
	// does so again for leads that came with timestamps of their own.
	renumberingShare = 4
)

// follower is the state of Follow. Everything in it belongs to the goroutine that holds Index.following.
type follower struct {
	draft *draft     // nil: all is to be read
	state lead.State // a state of the store that was seen; no older one may follow
	seen  store.ChangeCursor

	// Until all leads were read for the first time, the leads up to read are in the draft, and those up to last are to be read.
	read, last lead.Place

	size  int           // of the next range
	pause time.Duration // after the last failure; 0: the last access succeeded
	until time.Time     // Follow does nothing until then

	began time.Time     // the first reading
	built time.Duration // how long it took
}

// Follow brings the index to the revision of the store. The first time it reads all leads, in ranges: each is a statement of
// its own, so that no statement takes longer the more leads there are. When it fails readers are left with what they have,
// and Follow does nothing for a while; then it continues where it was.
func (x *Index) Follow(ctx context.Context) (more bool, err error) {
	x.following.Lock()
	defer x.following.Unlock()
	if time.Now().Before(x.until) {
		return false, nil
	}
	returned := false
	defer func() {
		if !returned {
			x.draft = nil // after a panic all is read again
		}
	}()
	err = x.follow(ctx)
	if err != nil {
		x.backOff()
	}
	returned = true
	return false, err
}

func (x *Index) follow(ctx context.Context) error {
	state, err := x.store.Leads().State(ctx)
	if err != nil {
		return err
	}
	if x.draft != nil && state.IsOther(x.state) {
		x.reset()
	}
	if x.draft == nil {
		if err := x.begin(ctx); err != nil {
			return err
		}
	}
	if err := x.readRanges(ctx); err != nil {
		return err
	}
	if now := x.published.Load(); now != nil && now.state.Revision == state.Revision {
		x.tidy()
		return nil
	}
	return x.catchUp(ctx)
}

// begin makes an empty draft, and finds out what is to be read. What changes from now on is read as a change.
func (x *Index) begin(ctx context.Context) error {
	began := time.Now()
	var state lead.State
	var last lead.Place
	err := x.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if state, err = r.Leads().State(ctx); err != nil {
			return err
		}
		last, err = r.Leads().Last(ctx)
		return err
	})
	if err != nil {
		return err
	}
	x.draft, x.state, x.seen = newDraft(), state, store.ChangeCursor{Revision: state.Revision, Key: math.MaxInt64}
	x.read, x.last, x.began, x.size = lead.Place{}, last, began, x.mostRange
	return nil
}

// readRanges reads what is left of the leads that there were at the beginning. Those that changed since may be among them, at
// their old places or at new ones, or missing: their changes are read afterwards.
func (x *Index) readRanges(ctx context.Context) error {
	for x.read.Compare(x.last) < 0 {
		marks, err := x.store.Leads().Marks(ctx, x.read, x.last, x.size)
		if err != nil {
			return err
		}
		x.pause = 0
		for _, mark := range marks {
			x.draft.bury(mark.Key) // it may have moved from a range that was read before
			x.draft.append(mark)
		}
		if len(marks) < x.size {
			x.read = x.last
		} else {
			x.read = marks[len(marks)-1].Place
		}
	}
	return nil
}

// catchUp reads what has changed, and publishes it as a whole.
func (x *Index) catchUp(ctx context.Context) error {
	seen := x.seen
	var gathered []store.LeadChange
	for {
		changes, state, err := x.changes(ctx, seen)
		if err != nil {
			return err
		}
		x.pause = 0
		gathered = append(gathered, changes...)
		if len(changes) > 0 {
			seen = changes[len(changes)-1].Cursor()
		}
		complete := len(changes) < x.size
		if complete || len(gathered) >= mostGathered {
			x.take(gathered)
			x.state, x.seen, gathered = state, seen, gathered[:0]
		}
		if complete {
			x.size = x.mostRange
			x.publish()
			x.tidy()
			return nil
		}
	}
}

// changes reads a range of changes, and the state that they lead to if there are no more of them.
func (x *Index) changes(ctx context.Context, after store.ChangeCursor) (changes []store.LeadChange, state lead.State, err error) {
	err = x.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if state, err = r.Leads().State(ctx); err != nil {
			return err
		}
		changes, err = r.Leads().Changes(ctx, after, x.size)
		return err
	})
	return changes, state, err
}

// take lets the draft take over changes, which are in their order. A lead may have changed again while they were read.
func (x *Index) take(changes []store.LeadChange) {
	last := make(map[int64]int, len(changes))
	for i, change := range changes {
		last[change.Key] = i
	}
	kept := make([]store.LeadMark, 0, len(changes))
	for i, change := range changes {
		if last[change.Key] != i {
			continue
		}
		x.draft.bury(change.Key)
		if !change.Removed {
			kept = append(kept, change.LeadMark)
		}
	}
	slices.SortFunc(kept, func(a, b store.LeadMark) int { return a.Place.Compare(b.Place) })
	if len(kept) > 0 && !x.draft.columns.precede(kept[0].Place) {
		began := time.Now()
		x.draft = x.draft.renumbered(kept)
		x.until = time.Now().Add(renumberingShare * time.Since(began))
		return
	}
	for _, mark := range kept {
		x.draft.append(mark)
	}
}

// publish gives readers the draft.
func (x *Index) publish() {
	x.built = cmp.Or(x.built, time.Since(x.began))
	made := x.draft.snapshot(x.state)
	made.built, made.beside, made.epoch = x.built, x.draft.positions.bytes(), x.epoch.Load()
	if old := x.published.Swap(made); old != nil {
		close(old.replaced)
	}
}

// tidy purges a portion of the dead positions from the draft when there are many.
func (x *Index) tidy() {
	switch {
	case x.draft.spent():
		x.draft = x.draft.renumbered(nil)
	case x.draft.crowded():
		x.draft.purge()
	default:
		return
	}
	x.publish()
}

// backOff makes Follow wait after a failure. A statement may have been too long for the store, so the next reads less.
func (x *Index) backOff() {
	x.size = max(x.size/2, min(leastRange, x.mostRange))
	x.pause = min(max(2*x.pause, Pace), longestPause)
	x.until = time.Now().Add(x.pause)
}

// reset makes the store answer until the index has read all of it again.
func (x *Index) reset() {
	x.follower = follower{pause: x.pause}
	x.epoch.Store(new(epoch))
	if old := x.published.Swap(nil); old != nil {
		close(old.replaced)
	}
}
