package activity

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// mostStreams is how many streams one process has, and backlog how many entries may wait for the taker of one before it is cut off.
const (
	mostStreams = 500
	backlog     = 1000
)

// rest is how long the hub rests for each stream that it handed something on to. What is committed meanwhile then goes out together: many
// streams cost about as much where much happens as where little does. With all streams it is 300 ms.
const rest = 600 * time.Microsecond

// idle is how long a stream waits for an entry before it hands on nothing.
const idle = time.Second

// errCut ends a stream whose taker is too slow, whose company is gone, or whose server stops.
var errCut = errors.New("the stream was cut off")

// hub reads what is committed once for all streams of this process.
type hub struct {
	store store.Store
	woken chan struct{}

	mutex  sync.Mutex
	of     map[id.Company]map[*subscription]struct{}
	count  int
	closed bool
	at     store.Place // all up to it was handed on; right while there are subscriptions

	rests <-chan time.Time // until then, for poll alone; nil: it does not
}

func newHub(s store.Store) *hub {
	return &hub{store: s, woken: make(chan struct{}, 1), of: map[id.Company]map[*subscription]struct{}{}}
}

// subscription gets the entries of one company that come after a place.
type subscription struct {
	of       id.Company
	after    store.Place
	portions chan *portion // closed when it is cut off
	waiting  atomic.Int64  // how many entries are in portions
}

// portion is entries of one company, with where they are. The streams of the company share it.
type portion struct {
	inbound.StreamedPortion
	places []store.Place
}

// portionOf makes a portion of entries of one company.
func portionOf(of id.Company, found []store.Placed) *portion {
	entries, places := make([]inbound.StreamedEntry, len(found)), make([]store.Place, len(found))
	for n, one := range found {
		entries[n] = inbound.StreamedEntry{Place: placeOf(of, one.ID), Entry: &event.Entry{Event: one.Event}}
		places[n] = one.Place
	}
	return &portion{inbound.Streamed(entries), places}
}

// after returns what of a portion comes after a place.
func (p *portion) after(at store.Place) *portion {
	n := 0
	for n < len(p.places) && p.places[n].Compare(at) <= 0 {
		n++
	}
	if n == 0 {
		return p
	}
	return &portion{inbound.Streamed(p.Entries[n:]), p.places[n:]}
}

// subscribe begins a subscription. The first one lets the hub begin at the end of the log.
func (h *hub) subscribe(ctx context.Context, of id.Company) (*subscription, error) {
	_, last, err := h.store.Activity().Ends(ctx, nil)
	if err != nil {
		return nil, err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed {
		return nil, fault.Stopping("try again")
	}
	if h.count >= mostStreams {
		return nil, fault.New(fault.Unavailable, "This server has its %d streams; try again later.", mostStreams)
	}
	if h.count == 0 {
		h.at = store.Place{}
		if last != nil {
			h.at = last.Place
		}
	}
	sub := &subscription{of: of, after: h.at, portions: make(chan *portion, backlog)}
	if h.of[of] == nil {
		h.of[of] = map[*subscription]struct{}{}
	}
	h.of[of][sub] = struct{}{}
	h.count++
	return sub, nil
}

// leave ends a subscription, if it was not cut off.
func (h *hub) leave(sub *subscription) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.cut(sub)
}

func (h *hub) cut(sub *subscription) {
	if _, ok := h.of[sub.of][sub]; !ok {
		return
	}
	close(sub.portions)
	h.count--
	if delete(h.of[sub.of], sub); len(h.of[sub.of]) == 0 {
		delete(h.of, sub.of)
	}
}

func (h *hub) close() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.closed = true
	for of := range h.of {
		h.cutAll(of)
	}
}

func (h *hub) cutAll(of id.Company) {
	for sub := range h.of[of] {
		h.cut(sub)
	}
}

// poll hands on what was committed since the last poll. Polls run one after the other.
func (h *hub) poll(ctx context.Context) (more bool, err error) {
	if h.rests != nil {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-h.rests:
			h.rests = nil
		}
	}
	h.mutex.Lock()
	at, count := h.at, h.count
	h.mutex.Unlock()
	if count == 0 {
		return false, nil
	}
	found, err := h.store.Activity().Follow(ctx, nil, at, store.Last, portionSize)
	if err != nil {
		return false, err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.at.Compare(at) != 0 || h.count == 0 {
		return true, nil // all left meanwhile, and others came, who begin elsewhere
	}
	of := map[id.Company][]store.Placed{}
	for _, one := range found {
		h.at = one.Place
		if len(h.of[one.Company]) > 0 {
			of[one.Company] = append(of[one.Company], one)
		}
	}
	streams := 0
	for company, some := range of {
		streams += len(h.of[company])
		h.hand(portionOf(company, some), company)
	}
	for _, one := range found {
		if one.Type == event.CompanyDeleted {
			h.cutAll(id.Company(one.Subject.ID))
		}
	}
	if streams > 0 {
		h.rests = time.After(time.Duration(streams) * rest)
	}
	return len(found) == portionSize, nil
}

// hand hands a portion on to the streams of its company.
func (h *hub) hand(one *portion, of id.Company) {
	for sub := range h.of[of] {
		if waiting := sub.waiting.Add(int64(len(one.Entries))); waiting > backlog && waiting > int64(len(one.Entries)) {
			h.cut(sub)
			continue
		}
		sub.portions <- one // there is room: each holds an entry at least
	}
}

// following is one stream.
type following struct {
	store store.Store
	hub   *hub
	sub   *subscription
	of    id.Company
	at    store.Place // all up to it was taken, or will be with next

	next []inbound.StreamedPortion
}

func (f *following) run(ctx context.Context, take func(portions []inbound.StreamedPortion) error) error {
	for { // what came before the subscription
		some, err := f.store.Activity().Follow(ctx, &f.of, f.at, f.sub.after, portionSize)
		if err != nil {
			return err
		}
		f.add(portionOf(f.of, some))
		if err := f.hand(take); err != nil {
			return err
		}
		if len(some) < portionSize {
			break
		}
	}
	pause := time.NewTimer(idle)
	defer pause.Stop()
	for {
		pause.Reset(idle)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pause.C:
			if err := take(nil); err != nil {
				return err
			}
			continue
		case one, ok := <-f.sub.portions:
			if !ok {
				return errCut
			}
			f.take(one)
		}
		for range len(f.sub.portions) { // what waits goes out together
			if one, ok := <-f.sub.portions; ok {
				f.take(one)
			}
		}
		if err := f.hand(take); err != nil {
			return err
		}
	}
}

// take takes a portion out of those that wait.
func (f *following) take(one *portion) {
	f.sub.waiting.Add(-int64(len(one.Entries)))
	f.add(one)
}

// add adds what was not taken of a portion to what is handed on next.
func (f *following) add(one *portion) {
	one = one.after(f.at)
	if len(one.Entries) == 0 {
		return
	}
	f.at = one.places[len(one.places)-1]
	f.next = append(f.next, one.StreamedPortion)
}

// hand hands on what was added.
func (f *following) hand(take func(portions []inbound.StreamedPortion) error) error {
	if len(f.next) == 0 {
		return nil
	}
	defer func() {
		clear(f.next)
		f.next = f.next[:0]
	}()
	return take(f.next)
}
