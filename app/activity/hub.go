package activity

import (
	"context"
	"errors"
	"sync"
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

// rest is how long the hub rests for each stream after it handed something on. What is committed meanwhile then goes out together: many
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
	of      id.Company
	after   store.Place
	entries chan *entry // closed when it is cut off
}

// entry is an entry with its place, which the streams of a company share.
type entry struct {
	at store.Place
	inbound.StreamedEntry
}

func entryOf(of id.Company, one store.Placed) *entry {
	return &entry{one.Place, inbound.Streamed(placeOf(of, one.ID), event.Entry{Event: one.Event})}
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
	sub := &subscription{of, h.at, make(chan *entry, backlog)}
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
	close(sub.entries)
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
	handed := 0
	for _, one := range found {
		h.at = one.Place
		if len(h.of[one.Company]) > 0 {
			handed = max(handed, h.hand(entryOf(one.Company, one), one.Company))
		}
		if one.Type == event.CompanyDeleted {
			h.cutAll(id.Company(one.Subject.ID))
		}
	}
	if handed > 0 {
		h.rests = time.After(time.Duration(handed) * rest)
	}
	return len(found) == portionSize, nil
}

// hand hands an entry on to the streams of its company, and returns how many these were.
func (h *hub) hand(one *entry, of id.Company) (streams int) {
	streams = len(h.of[of])
	for sub := range h.of[of] {
		select {
		case sub.entries <- one:
		default:
			h.cut(sub)
		}
	}
	return streams
}

// following is one stream.
type following struct {
	store store.Store
	hub   *hub
	sub   *subscription
	of    id.Company
	at    store.Place // all up to it was taken, or will be with next

	next []inbound.StreamedEntry
}

func (f *following) run(ctx context.Context, take func(entries []inbound.StreamedEntry) error) error {
	for { // what came before the subscription
		some, err := f.store.Activity().Follow(ctx, &f.of, f.at, f.sub.after, portionSize)
		if err != nil {
			return err
		}
		for _, one := range some {
			f.add(entryOf(f.of, one))
		}
		if err := f.hand(take); err != nil {
			return err
		}
		if len(some) < portionSize {
			break
		}
	}
	f.next = nil // much may have come before, and little comes at once from here on
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
		case one, ok := <-f.sub.entries:
			if !ok {
				return errCut
			}
			f.add(one)
		}
		for range min(len(f.sub.entries), portionSize) { // what waits goes out together
			if one, ok := <-f.sub.entries; ok {
				f.add(one)
			}
		}
		if err := f.hand(take); err != nil {
			return err
		}
	}
}

// add adds an entry to those that are handed on next, unless it was taken.
func (f *following) add(one *entry) {
	if one.at.Compare(f.at) > 0 {
		f.at = one.at
		f.next = append(f.next, one.StreamedEntry)
	}
}

// hand hands on what was added.
func (f *following) hand(take func(entries []inbound.StreamedEntry) error) error {
	if len(f.next) == 0 {
		return nil
	}
	defer func() {
		clear(f.next)
		f.next = f.next[:0]
	}()
	return take(f.next)
}
