package export

import (
	"context"
	"errors"
	"sync"
	"time"

	"holdco/app/ahead"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// feedPace is how often the store is asked, for all readers of this process together, whether there is something to tell those who wait.
const feedPace = 100 * time.Millisecond

// Changes returns a page of the feed. Whoever asks again with the position of the page is told what came after.
func (s *Service) Changes(ctx context.Context, query lead.FeedQuery, wait time.Duration) (inbound.ChangesPage, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		var found inbound.ChangesPage
		names, err := s.seen(ctx, query.Filter, func(filter lead.Filter) (_ lead.State, err error) {
			asked := query
			asked.Filter = filter
			found.FeedPage, err = s.from.Leads().Feed(ctx, asked)
			return found.State, err
		})
		if err != nil {
			return inbound.ChangesPage{}, feedFault(err)
		}
		if found.Names = names; len(found.Changes) > 0 || found.More || wait <= 0 {
			return found, nil
		}
		query.After = found.Next
		if changed, err := s.watch.await(ctx, s.State, found.State.Revision, over.C); !changed {
			return found, err
		}
	}
}

// StreamChanges calls take with the pages of the feed, one after the other, until there are no more. It reads one page ahead.
func (s *Service) StreamChanges(
	ctx context.Context, query lead.FeedQuery, wait time.Duration, take func(inbound.ChangesPage) error,
) error {
	return ahead.Read(ctx, func(ctx context.Context, hand func(inbound.ChangesPage) error) error {
		query.Size, query.Bytes = portionSize, portionBytes
		for more := true; more; {
			found, err := s.Changes(ctx, query, wait)
			if err != nil {
				return err
			}
			if err := hand(found); err != nil {
				return err
			}
			query.After, more, wait = found.Next, found.More, 0
		}
		return nil
	}, take)
}

// ChangesSince returns a position from which the feed has all changes at or after an instant.
func (s *Service) ChangesSince(ctx context.Context, since time.Time) (lead.FeedPosition, error) {
	from, err := s.from.Leads().FeedSince(ctx, since)
	if errors.Is(err, store.ErrFeedLost) {
		return from, fault.New(fault.InvalidParameter,
			"since is so long ago that removals after it are not kept any more; drop your copy, and start again without it.").
			With("parameter", "since")
	}
	return from, err
}

// CanFollow fails when the feed does not go on from a position.
func (s *Service) CanFollow(ctx context.Context, from lead.FeedPosition) error {
	return feedFault(s.from.Leads().CanFollow(ctx, from))
}

// feedFault is what a partner is told of a feed that does not go on.
func feedFault(err error) error {
	if errors.Is(err, store.ErrFeedLost) {
		return fault.New(fault.InvalidCursor, "What came after the cursor is not known any more, because an older state was restored, "+
			"or because removals so long ago are not kept any more; drop your copy, and start again without it.")
	}
	return err
}

// watch lets any number of readers wait for a change, for which the store is asked once.
type watch struct {
	closing <-chan struct{} // closed when nobody is to wait any more; may be nil

	mutex sync.Mutex
	seen  lead.Revision
	fresh bool // it was seen less than a feedPace ago
}

// await waits until the leads have another revision, and reports whether they have: not after the wait is over, nor when ctx ends or the
// server stops.
func (w *watch) await(
	ctx context.Context, state func(context.Context) (lead.State, error), than lead.Revision, over <-chan time.Time,
) (changed bool, err error) {
	pace := time.NewTicker(feedPace)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
		case <-over:
			return false, nil
		case <-w.closing:
			return false, nil
		case <-ctx.Done():
			return false, nil
		}
		now, err := w.revision(ctx, state)
		switch {
		case ctx.Err() != nil:
			return false, nil
		case err != nil || now != than:
			return err == nil, err
		}
	}
}

// revision is that of less than a feedPace ago.
func (w *watch) revision(ctx context.Context, state func(context.Context) (lead.State, error)) (lead.Revision, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.fresh {
		return w.seen, nil
	}
	now, err := state(ctx)
	if err != nil {
		return 0, err
	}
	w.seen, w.fresh = now.Revision, true
	time.AfterFunc(feedPace, func() {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.fresh = false
	})
	return w.seen, nil
}
