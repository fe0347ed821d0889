package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var cursorRules = []rule{
	{"idle are the enabled endpoints in whose queues no event is left", idleEndpoints},
	{"an event that is wanted makes an idle queue due, and gives it a cursor", wantedWakes},
	{"a queue is idle once it is released after the last event", releasedAfterLast},
	{"a queue is due at once when events were enqueued after its cursor meanwhile", releasedBeforeMore},
	{"a queue that was claimed without a cursor keeps the one that it got meanwhile", cursorMeanwhile},
	{"a new endpoint begins at the end of the outbox", newEndpointAtEnd},
	{"what waited when an endpoint was disabled is sent when it is enabled, what happened in between is not", gapIsSkipped},
	{"what was recorded before an endpoint was disabled waits, even if it was not enqueued yet", gapBeginsWhenDisabled},
	{"gaps that are passed are of no account", gapsThatArePassed},
	{"of two gaps that are not passed what is between them is passed over too", gapsBecomeOne},
	{"of events that many record, enqueue and read concurrently each endpoint reads each once, and none is left", takenUpOnce},
}

func (f *fixture) idleAre(want ...webhook.Endpoint) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		got, err := tx.Outbox().Idle(ctx)
		if err == nil {
			f.same(got, want)
		}
		return err
	})
}

// takeUp claims the queue of an endpoint, which must be due.
func (f *fixture) takeUp(endpoint id.Webhook) webhook.Queue {
	f.Helper()
	var claimed []webhook.Queue
	f.update(claiming("lease", 1, &claimed))
	f.same(endpointsOf(claimed), []id.Webhook{endpoint})
	return claimed[0]
}

// takesUp claims the queue of an endpoint, compares what it finds from its cursor on with want, and releases it after that.
func (f *fixture) takesUp(endpoint id.Webhook, want ...event.Event) {
	f.Helper()
	queue := f.takeUp(endpoint)
	f.nextAre(endpoint, queue.Cursor, want...)
	queued, err := f.store.Outbox().Next(f.ctx, endpoint, queue.Cursor, len(want))
	f.ok(err)
	queue.Cursor = queued[len(queued)-1].Position + 1
	f.update(releasing(queue))
}

func (f *fixture) enable(endpoint webhook.Endpoint) webhook.Endpoint {
	f.Helper()
	return f.reconnect(endpoint, func(e *webhook.Endpoint) { e.Enabled = true })
}

func idleEndpoints(f *fixture) {
	f.idleAre()
	first := f.newEndpoint()
	f.clock.Advance(time.Millisecond)
	second := f.endpoint()
	f.endpoint(disabled)
	third := f.endpoint()
	f.update(connecting(first)) // made earlier, though added later
	f.idleAre(first, second, third)
	second = f.reconnect(second, disabled)
	f.idleAre(first, third)
	f.happens(1, third.ID)
	f.idleAre(first)
	f.send(first.ID) // is no event that it would have to look for
	f.idleAre(first)
	f.update(disconnecting(third.ID))
	second = f.enable(second)
	f.idleAre(first, second)
}

func wantedWakes(f *fixture) {
	one, other, off := f.endpoint(), f.endpoint(), f.endpoint(disabled)
	first := f.happens(3)
	f.claimable()
	second := f.happens(2, one.ID)
	f.claimable(one.ID)
	third := f.happens(1, one.ID, other.ID)
	f.claimable(one.ID, other.ID)
	f.idleAre()
	f.takesUp(one.ID, append(second, third...)...)
	f.takesUp(other.ID, third...)
	f.idleAre(one, other)
	f.nextAre(one.ID, 1, slices.Concat(first, second, third)...)
	f.send(one.ID, tried(1), dueIn(time.Hour))
	f.happens(1, one.ID)
	f.claimable(one.ID)
	f.nextAre(off.ID, 1)
}

func releasedAfterLast(f *fixture) {
	endpoint := f.endpoint()
	f.happens(5, endpoint.ID)
	queue := f.takeUp(endpoint.ID)
	f.same(queue.Cursor, int64(1))
	queue.Cursor = 5
	f.update(releasing(queue))
	f.idleAre()
	f.same(f.takeUp(endpoint.ID), queue)
	queue.Cursor = 6
	f.update(releasing(queue))
	f.idleAre(endpoint)
	f.claimable()
	later := f.happens(1, endpoint.ID)
	f.takesUp(endpoint.ID, later...)
	f.claimable()
}

func releasedBeforeMore(f *fixture) {
	outgoing := func() bool {
		select {
		case <-f.store.Outgoing():
			return true
		default:
			return false
		}
	}
	endpoint := f.endpoint()
	f.happens(1, endpoint.ID)
	queue := f.takeUp(endpoint.ID)
	queue.Cursor = 2
	f.send(endpoint.ID, tried(1), dueIn(time.Hour))
	more := f.happens(1) // a queue that is not idle reads every event
	outgoing()
	f.update(releasing(queue))
	f.same(outgoing(), true)
	f.takesUp(endpoint.ID, more...)
	f.same(outgoing(), false)
	f.clock.Advance(time.Hour)
	f.claimable(endpoint.ID)
}

func cursorMeanwhile(f *fixture) {
	endpoint := f.endpoint()
	f.happens(1)
	d := f.send(endpoint.ID, tried(1))
	queue := f.takeUp(endpoint.ID)
	f.same(queue.Cursor, int64(0))
	more := f.happens(2, endpoint.ID)
	f.leaseIs(webhook.Queue{Endpoint: endpoint.ID, Cursor: 2, Lease: "lease", LeasedUntil: queue.LeasedUntil})
	f.saveDelivery(d.After(answered(f.clock.Now(), 200), 0, f.clock.Now()))
	f.update(releasing(queue))
	f.takesUp(endpoint.ID, more...)
}

func newEndpointAtEnd(f *fixture) {
	f.endpoint()
	f.happens(3)
	endpoint, off := f.endpoint(), f.endpoint(disabled)
	f.claimable()
	more := f.happens(1, endpoint.ID)
	f.takesUp(endpoint.ID, more...)
	off = f.enable(off)
	f.claimable()
	more = f.happens(1, off.ID)
	f.takesUp(off.ID, more...)
}

func gapIsSkipped(f *fixture) {
	endpoint, other := f.endpoint(), f.endpoint() // so that events enter while the one is disabled
	before := f.happens(5, endpoint.ID)
	queue := f.takeUp(endpoint.ID)
	queue.Cursor = 3
	endpoint = f.reconnect(endpoint, disabled)
	f.update(releasing(queue))
	f.claimable()
	f.happens(4)
	f.nextAre(endpoint.ID, 1, before...)
	f.nextAre(endpoint.ID, 7)
	endpoint = f.reconnect(endpoint, func(e *webhook.Endpoint) { e.Description = "Still disabled" })
	f.happens(1)
	endpoint = f.enable(endpoint)
	f.claimable(endpoint.ID)
	after := f.happens(2)
	f.nextAre(endpoint.ID, 5, append(before[4:], after...)...)
	f.nextAre(endpoint.ID, 8, after...)
	endpoint = f.reconnect(endpoint, func(e *webhook.Endpoint) { e.Description = "Still enabled" })
	f.takesUp(endpoint.ID, append(before[2:], after...)...)
	f.idleAre(endpoint, other)
}

func gapBeginsWhenDisabled(f *fixture) {
	endpoint, other := f.endpoint(), f.endpoint()
	f.update(recording(founded(f.newCompany("before"))))
	before := f.newest()
	endpoint = f.reconnect(endpoint, disabled)
	f.waits(true) // the other has to look at it
	f.claimable(other.ID)
	f.takesUp(other.ID, before)
	f.update(recording(founded(f.newCompany("while"))))
	f.clock.Advance(time.Millisecond)
	endpoint = f.enable(endpoint)
	f.same(len(f.enqueue(10)), 0)
	f.update(recording(founded(f.newCompany("after"))))
	after := f.newest()
	f.enqueue(10)
	f.takeUp(endpoint.ID)
	f.nextAre(endpoint.ID, 1, before, after)
}

func gapsThatArePassed(f *fixture) {
	endpoint := f.endpoint()
	f.endpoint()
	for range 3 {
		before := f.happens(1, endpoint.ID)
		f.takesUp(endpoint.ID, before...)
		waiting := f.happens(2, endpoint.ID)
		endpoint = f.reconnect(endpoint, disabled)
		f.happens(2)
		endpoint = f.enable(endpoint)
		f.takesUp(endpoint.ID, waiting...)
	}
}

func gapsBecomeOne(f *fixture) {
	endpoint := f.endpoint()
	f.endpoint()
	before := f.happens(2, endpoint.ID)
	for range 2 {
		endpoint = f.reconnect(endpoint, disabled)
		f.happens(2)
		endpoint = f.enable(endpoint)
		f.happens(1)
	}
	last := f.newest()
	f.takesUp(endpoint.ID, append(before, last)...)
}

// takenUpOnce lets several record events, several enqueue them, and several work through the queues as workers do: no
// wake-up may be lost on the way. Every second endpoint wants every second event.
func takenUpOnce(f *fixture) {
	const recorders, enqueuers, workers, endpoints, each = 3, 2, 3, 4, 15
	wants := func(n int, happened event.Event) bool { return n%2 == 0 || happened.Subject.Type == "even" }
	order := map[id.Webhook]int{}
	for n := range endpoints {
		order[f.endpoint().ID] = n
	}

	var mutex sync.Mutex
	taken := map[id.Webhook][]int64{}
	recorded, queued := make(chan struct{}), make(chan struct{})
	var recording, enqueueing sync.WaitGroup
	recording.Add(recorders)
	enqueueing.Add(enqueuers)
	go func() { recording.Wait(); close(recorded); enqueueing.Wait(); close(queued) }()
	f.exactly(together(recorders+enqueuers+workers, func(i int) error {
		switch {
		case i < recorders:
			defer recording.Done()
			return f.recordParities(each)
		case i < recorders+enqueuers:
			defer enqueueing.Done()
			return until(recorded, func() (bool, error) {
				var events []event.Event
				err := f.store.Update(f.ctx, waking(&events, order, wants))
				return len(events) == 0, err
			})
		}
		lease := fmt.Sprint("lease-", i)
		return until(queued, func() (bool, error) {
			var claimed []webhook.Queue
			err := f.store.Update(f.ctx, claiming(lease, 2, &claimed))
			for _, queue := range claimed {
				positions, failed := f.workThrough(queue, func(happened event.Event) bool { return wants(order[queue.Endpoint], happened) })
				if failed != nil {
					return false, failed
				}
				mutex.Lock()
				taken[queue.Endpoint] = append(taken[queue.Endpoint], positions...)
				mutex.Unlock()
			}
			return len(claimed) == 0, err
		})
	}), map[fault.Code]int{"": recorders + enqueuers + workers})

	f.claimable()
	for endpoint, n := range order {
		all, err := f.store.Outbox().Next(f.ctx, endpoint, 1, 1000)
		f.ok(err)
		f.same(len(all), recorders*each)
		var want []int64
		for _, one := range all {
			if wants(n, one.Event) {
				want = append(want, one.Position)
			}
		}
		f.same(slices.Sorted(slices.Values(taken[endpoint])), want) // one worker may note later what it took up earlier
	}
}

// recordParities records events that are even or odd in turn.
func (f *fixture) recordParities(count int) error {
	for n := range count {
		happened := founded(f.newCompany("acme"))
		happened.Subject.Type = []string{"even", "odd"}[n%2]
		if err := f.store.Update(f.ctx, recording(happened)); err != nil {
			return err
		}
	}
	return nil
}

// waking enqueues a few events, and wakes the idle endpoints that want any of them.
func waking(events *[]event.Event, order map[id.Webhook]int, wants func(n int, happened event.Event) bool) unit {
	return func(ctx context.Context, tx store.Tx) (err error) {
		if *events, err = tx.Outbox().Unqueued(ctx, 2); err != nil {
			return err
		}
		idle, err := tx.Outbox().Idle(ctx)
		if err != nil {
			return err
		}
		var wantedBy []id.Webhook
		for _, endpoint := range idle {
			for _, happened := range *events {
				if wants(order[endpoint.ID], happened) {
					wantedBy = append(wantedBy, endpoint.ID)
					break
				}
			}
		}
		return tx.Outbox().Enqueue(ctx, entriesOf(*events), wantedBy)
	}
}

// workThrough reads the events of a claimed queue until there are none, releases it, and returns their positions.
func (f *fixture) workThrough(queue webhook.Queue, wants func(happened event.Event) bool) (taken []int64, err error) {
	for {
		queued, err := f.store.Outbox().Next(f.ctx, queue.Endpoint, queue.Cursor, 3)
		if err != nil {
			return taken, err
		}
		if len(queued) == 0 {
			return taken, f.store.Update(f.ctx, releasing(queue))
		}
		for _, one := range queued {
			queue.Cursor = one.Position + 1
			if !wants(one.Event) {
				continue
			}
			taken = append(taken, one.Position)
			err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
				if _, err := tx.Outbox().Leased(ctx, queue.Endpoint, queue.Lease); err != nil {
					return err
				}
				return tx.Outbox().Save(ctx, queue)
			})
			if err != nil {
				return taken, err
			}
		}
	}
}
