package activity

import (
	"context"
	"errors"

	"holdco/app/ahead"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Activity.
type Service struct {
	store  store.Store
	signer outbound.Signer
	hub    *hub
}

var _ inbound.Activity = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, signer outbound.Signer) *Service {
	made := &Service{store: s, signer: signer, hub: newHub(s)}
	s.Recorded(made.hub.woken)
	return made
}

// Recorded receives a value when there may be something for streams.
func (s *Service) Recorded() <-chan struct{} { return s.hub.woken }

// Poll hands what was committed on to the streams of this process.
func (s *Service) Poll(ctx context.Context) (more bool, err error) { return s.hub.poll(ctx) }

// Close ends all streams, and lets none begin any more.
func (s *Service) Close() { s.hub.close() }

// Reorder mends the order of a log that was moved to another database.
func Reorder(ctx context.Context, s store.Store) (moved bool, err error) {
	err = s.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		moved, err = tx.Activity().Reorder(ctx)
		return err
	})
	return moved, err
}

// Get implements inbound.Activity.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, which id.Entry) (found event.Entry, err error) {
	err = s.view(ctx, caller, &of, func(ctx context.Context, r store.Reader) error {
		found.Event, err = r.Activity().Get(ctx, which)
		if err == nil && found.Company != of {
			err = fault.New(fault.NotFound, "There is no such entry of the activity log.")
		}
		return err
	})
	return found, err
}

// List implements inbound.Activity.
func (s *Service) List(
	ctx context.Context, caller access.Caller, filter event.Filter, after page.Position, size int,
) (found page.Page[event.Entry], err error) {
	err = s.view(ctx, caller, filter.Company, func(ctx context.Context, r store.Reader) error {
		some, err := r.Activity().List(ctx, filter, after, size)
		found = page.Page[event.Entry]{Items: entries(some.Items), Next: some.Next}
		return err
	})
	return found, err
}

// view reads on one snapshot, if the caller may see the activity of a company that exists, or of all if it is nil.
func (s *Service) view(
	ctx context.Context, caller access.Caller, of *id.Company, read func(ctx context.Context, r store.Reader) error,
) error {
	if of == nil {
		if err := caller.NeedsEverywhere(access.Admin); err != nil {
			return err
		}
	} else if err := caller.NeedsIn(access.Read, *of); err != nil {
		return err
	}
	return s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		if of != nil {
			if _, err := r.Companies().Get(ctx, *of); err != nil {
				return err
			}
		}
		return read(ctx, r)
	})
}

func entries(events []event.Event) []event.Entry {
	all := make([]event.Entry, len(events))
	for n, one := range events {
		all[n].Event = one
	}
	return all
}

// portionSize is how many entries are read at once.
const portionSize = 1000

// Export implements inbound.Activity. Each portion is read by itself: entries never change, and those that came later are left out.
func (s *Service) Export(
	ctx context.Context, caller access.Caller, filter event.Filter, after string,
) (inbound.ActivityExport, error) {
	if err := s.view(ctx, caller, filter.Company, func(context.Context, store.Reader) error { return nil }); err != nil {
		return nil, err
	}
	s.catchUp(ctx)
	var from page.Position
	var until store.Place
	err := s.view(ctx, caller, filter.Company, func(ctx context.Context, r store.Reader) (err error) {
		from = page.Position{}
		until, err = r.Activity().Chained(ctx)
		if err != nil || after == "" || after == beforeAll {
			return err
		}
		which, _ := id.Parse[id.Entry](after)
		found, err := r.Activity().Get(ctx, which)
		if fault.CodeOf(err) == fault.NotFound || err == nil && filter.Company != nil && found.Company != *filter.Company {
			refused := fault.New(fault.InvalidCursor, "after must be the id of an entry of this activity log; the one with this id may "+
				"have been removed. Start at the oldest place, or without one.")
			return refused.With("oldest", beforeAll)
		}
		from = store.PositionOf(found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(take func(entries []inbound.ChainedEntry) error) error {
		return ahead.Read(ctx, func(ctx context.Context, hand func(entries []inbound.ChainedEntry) error) error {
			for at := from; ; {
				some, err := s.store.Activity().Export(ctx, filter, at, until, portionSize)
				if err != nil {
					return err
				}
				if len(some.Items) > 0 {
					chained, err := s.chained(ctx, some.Items)
					if err != nil {
						return err
					}
					if err := hand(chained); err != nil {
						return err
					}
				}
				if at = some.Next; at.IsStart() {
					return nil
				}
			}
		}, take)
	}, nil
}

// chained are events with their links.
func (s *Service) chained(ctx context.Context, events []event.Event) ([]inbound.ChainedEntry, error) {
	ids := make([]id.Entry, len(events))
	for n, one := range events {
		ids[n] = one.ID
	}
	links, err := s.store.Activity().Links(ctx, ids)
	all := make([]inbound.ChainedEntry, len(events))
	for n, one := range events {
		all[n] = inbound.ChainedEntry{Entry: event.Entry{Event: one}, Link: links[one.ID]}
	}
	return all, err
}

// beforeAll stands for an entry that comes before all others.
const beforeAll = "start"

// placeOf spells the place of an entry in the stream of a company: its id, bound to that. Where it stands is looked up again, so that it
// stays right when the log is moved.
func placeOf(of id.Company, which id.Entry) string {
	return page.Cursor(streamOf(of), page.Position{ID: string(which)})
}

func streamOf(of id.Company) string { return "activity stream of=" + string(of) }

// Follow implements inbound.Activity.
func (s *Service) Follow(ctx context.Context, caller access.Caller, of id.Company, place string) (inbound.ActivityStream, error) {
	var from store.Place
	var begin string
	err := s.view(ctx, caller, &of, func(ctx context.Context, r store.Reader) (err error) {
		from, begin, err = startOf(ctx, r, of, place)
		return err
	})
	if err != nil {
		return nil, err
	}
	sub, err := s.hub.subscribe(ctx, of)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { s.hub.leave(sub) }) // even if the stream never begins
	f := &following{store: s.store, hub: s.hub, sub: sub, of: of, at: from}
	return func(ctx context.Context, take func(portions []inbound.StreamedPortion) error) error {
		defer s.hub.leave(sub)
		if begin != "" {
			if err := take([]inbound.StreamedPortion{inbound.Streamed([]inbound.StreamedEntry{{Place: begin}})}); err != nil {
				return err
			}
		}
		err := f.run(ctx, take)
		if errors.Is(err, errCut) {
			return nil // the client goes on from its place
		}
		return err
	}, nil
}

// startOf is where a stream starts, and the place to tell first; empty: the client has one.
func startOf(ctx context.Context, r store.Reader, of id.Company, place string) (from store.Place, begin string, err error) {
	if place == "" {
		_, last, err := r.Activity().Ends(ctx, &of)
		if err != nil || last == nil {
			return from, "", err
		}
		return last.Place, placeOf(of, last.ID), nil
	}
	at, err := page.ParseCursor(streamOf(of), place)
	switch {
	case err != nil:
	case at.ID == beforeAll:
		return from, "", nil
	default:
		found, missing := r.Activity().Placed(ctx, id.Entry(at.ID))
		switch {
		case missing == nil && found.Company == of:
			return found.Place, "", nil
		case missing != nil && fault.CodeOf(missing) != fault.NotFound:
			return from, "", missing
		}
	}
	refused := fault.New(fault.InvalidCursor, "There is no such place in this stream; what stood there may have been removed. "+
		"Start at the oldest place, or without one.")
	return from, "", refused.With("oldest", placeOf(of, beforeAll))
}
