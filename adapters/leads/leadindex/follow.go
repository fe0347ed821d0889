package leadindex

import (
	"context"
	"time"

	"holdco/domain/lead"
	"holdco/ports/store"
)

// leisure is how many times as long as it took to number all positions anew the index rests, before it does so again
// for leads that came with timestamps of their own.
const leisure = 4

// Follow brings the index to the revision of the store. The first time it reads all leads; then more is worth doing at
// once. When it fails nothing has changed, and it may be called again.
func (x *Index) Follow(ctx context.Context) (more bool, err error) {
	x.following.Lock()
	defer x.following.Unlock()
	if time.Now().Before(x.rest) {
		return false, nil
	}
	if x.draft == nil {
		return true, x.build(ctx)
	}
	standing := x.published.Load().state
	state, err := x.store.Leads().State(ctx)
	switch {
	case err != nil:
		return false, err
	case state.Revision > standing.Revision:
		return false, x.catchUp(ctx, standing.Revision)
	case state.Revision == standing.Revision && state.ChangedAt.Equal(standing.ChangedAt):
		return false, nil
	}
	x.forget() // an older store was put in the place of this one
	return true, nil
}

// build reads the whole store.
func (x *Index) build(ctx context.Context) error {
	began := time.Now()
	var made *draft
	var state lead.State
	err := x.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if state, err = r.Leads().State(ctx); err != nil {
			return err
		}
		made = newDraft()
		return r.Leads().Changes(ctx, 0,
			func(mark store.LeadMark) error { made.append(mark); return nil },
			func(int64) error { return nil })
	})
	if err != nil {
		return err
	}
	x.built = time.Since(began)
	x.publish(made, state)
	return nil
}

// catchUp reads what has changed since a revision. It is gathered first: a change is taken over as a whole or not at all.
func (x *Index) catchUp(ctx context.Context, since lead.Revision) error {
	var kept []store.LeadMark
	var removed []int64
	var state lead.State
	err := x.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if state, err = r.Leads().State(ctx); err != nil {
			return err
		}
		kept, removed = nil, nil
		return r.Leads().Changes(ctx, since,
			func(mark store.LeadMark) error { kept = append(kept, mark); return nil },
			func(key int64) error { removed = append(removed, key); return nil })
	})
	if err != nil {
		return err
	}
	x.take(state, kept, removed)
	return nil
}

// take takes over a change.
func (x *Index) take(state lead.State, kept []store.LeadMark, removed []int64) {
	next := x.draft
	x.draft = nil // should this panic, all is read anew
	for _, key := range removed {
		next.bury(key)
	}
	for _, mark := range kept {
		next.bury(mark.Key)
	}
	if len(kept) > 0 && !next.columns.precede(kept[0].Place) {
		began := time.Now()
		next = next.renumbered(kept)
		x.rest = time.Now().Add(leisure * time.Since(began))
	} else {
		for _, mark := range kept {
			next.append(mark)
		}
	}
	x.publish(next, state)
	switch {
	case next.spent():
		x.publish(next.renumbered(nil), state)
	case next.crowded():
		next.purge()
		x.publish(next, state)
	}
}

// publish gives readers the next snapshot.
func (x *Index) publish(next *draft, state lead.State) {
	made := next.snapshot(state)
	made.built, made.beside = x.built, next.positions.bytes()
	x.draft = next
	if old := x.published.Swap(made); old != nil {
		close(old.replaced)
	}
}

// forget makes the store answer until the index has read all of it again.
func (x *Index) forget() {
	x.draft = nil
	x.answered.Store(0)
	if old := x.published.Swap(nil); old != nil {
		close(old.replaced)
	}
}
