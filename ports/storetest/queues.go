package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var queueRules = []rule{
	{"a queue can be claimed when an attempt is due and its endpoint is enabled", claimWhenDue},
	{"those that wait longest are claimed first, so many at most", claimLongestFirst},
	{"a queue is leased by one until it is released or the lease ends", leasedByOne},
	{"the holder of a lease renews it, moves the cursor and records how the endpoint fails", leaseHolderSaves},
	{"a queue whose lease has ended goes to the next claim, and is lost to the former holder", leaseEnds},
	{"a released queue is due when its first pending delivery is", releasedWhenDue},
	{"a new or changed delivery makes a queue due, and never later", wakes},
	{"pending deliveries continue when their endpoint is enabled", enabledContinues},
	{"what is held is not claimed until it is resumed, and what has nothing to send is not held", holds},
	{"a removed endpoint has no queue", queueGoes},
	{"a claim goes with its unit", claimGivenUp},
	{"four who claim two hundred queues at once get each of them once", claimAtOnce},
	{"those who work on different queues at once all get through", workAtOnce},
}

// claim claims queues for the term of a lease, and returns their endpoints.
func (f *fixture) claim(lease string, most int) []id.Webhook {
	f.Helper()
	var claimed []webhook.Queue
	f.update(claiming(lease, most, &claimed))
	return endpointsOf(claimed)
}

func endpointsOf(queues []webhook.Queue) []id.Webhook {
	endpoints := make([]id.Webhook, len(queues))
	for i, queue := range queues {
		endpoints[i] = queue.Endpoint
	}
	return endpoints
}

func claiming(lease string, most int, claimed *[]webhook.Queue) unit {
	return func(ctx context.Context, tx store.Tx) error {
		var err error
		*claimed, err = tx.Outbox().Claim(ctx, lease, tx.Now().Add(webhook.LeaseTerm), most)
		return err
	}
}

// claimable compares what waits, and what can be claimed, with want, and leaves it as it is.
func (f *fixture) claimable(want ...id.Webhook) {
	f.Helper()
	f.waits(len(want) > 0)
	err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
		claimed, err := tx.Outbox().Claim(ctx, "another", tx.Now().Add(time.Hour), 100)
		if err != nil {
			return err
		}
		f.same(endpointsOf(claimed), want)
		return errGivenUp
	})
	if !errors.Is(err, errGivenUp) {
		f.Fatal(err)
	}
}

// held compares the queue of an endpoint under a lease with want.
func (f *fixture) leaseIs(want webhook.Queue) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		queue, err := tx.Outbox().Leased(ctx, want.Endpoint, want.Lease)
		if err == nil {
			f.same(queue, want)
		}
		return err
	})
}

func (f *fixture) notHeld(endpoint id.Webhook, lease string) {
	f.Helper()
	f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Outbox().Leased(ctx, endpoint, lease)
		return err
	})
}

func (f *fixture) release(endpoint id.Webhook, lease string) {
	f.Helper()
	f.update(releasing(webhook.Queue{Endpoint: endpoint, Lease: lease}))
}

func releasing(queue webhook.Queue) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Outbox().Release(ctx, queue) }
}

func claimWhenDue(f *fixture) {
	endpoint, off := f.endpoint(), f.endpoint(disabled).ID
	f.claimable()
	f.send(off)
	f.send(endpoint.ID, ended(webhook.Succeeded))
	f.claimable()
	f.send(endpoint.ID, dueIn(time.Second))
	f.clock.Advance(time.Second - time.Millisecond)
	f.claimable()
	f.clock.Advance(time.Millisecond)
	f.claimable(endpoint.ID)
	f.reconnect(endpoint, disabled)
	f.claimable()
}

func claimLongestFirst(f *fixture) {
	waits := []time.Duration{2, 0, 3, 1}
	endpoints := make([]id.Webhook, len(waits))
	for i, wait := range waits {
		endpoints[i] = f.endpoint().ID
		f.send(endpoints[i], dueIn(wait*time.Second))
	}
	f.clock.Advance(time.Minute)
	f.claimable(endpoints[1], endpoints[3], endpoints[0], endpoints[2])
	f.same(f.claim("lease", 3), []id.Webhook{endpoints[1], endpoints[3], endpoints[0]})
	f.same(f.claim("lease", 3), []id.Webhook{endpoints[2]})
	f.same(len(f.claim("lease", 3)), 0)
}

func leasedByOne(f *fixture) {
	one, two := f.endpoint().ID, f.endpoint().ID
	f.send(one)
	f.send(two)
	until := f.clock.Now().Add(webhook.LeaseTerm)
	f.notHeld(one, "")
	f.same(f.claim("first", 1), []id.Webhook{one})
	f.same(f.claim("second", 10), []id.Webhook{two})
	f.claimable()
	f.leaseIs(webhook.Queue{Endpoint: one, Lease: "first", LeasedUntil: until})
	f.leaseIs(webhook.Queue{Endpoint: two, Lease: "second", LeasedUntil: until})
	for _, lease := range []string{"second", "", "FIRST", "' OR '1'='1"} {
		f.notHeld(one, lease)
		f.release(one, lease) // of no effect
	}
	f.claimable()
	f.release(one, "first")
	f.notHeld(one, "first")
	f.notHeld(one, "")
	f.claimable(one)
}

func leaseHolderSaves(f *fixture) {
	endpoint, at := f.endpoint().ID, f.clock.Now()
	f.send(endpoint)
	f.claim("lease", 1)
	save := func(queue webhook.Queue) unit {
		return func(ctx context.Context, tx store.Tx) error { return tx.Outbox().Save(ctx, queue) }
	}
	queue := webhook.Queue{Endpoint: endpoint, Cursor: 7, Lease: "lease", FailingSince: at, LeasedUntil: at.Add(time.Hour)}
	f.update(save(queue))
	f.leaseIs(queue)
	f.refused(fault.Internal, save(webhook.Queue{Endpoint: endpoint, Lease: "another", LeasedUntil: at}))
	f.leaseIs(queue)
	f.clock.Advance(time.Hour - time.Millisecond)
	f.claimable()
	f.clock.Advance(time.Millisecond)
	f.claimable(endpoint)

	// How it fails outlasts the lease.
	f.release(endpoint, "lease")
	f.claim("next", 1)
	queue.Lease, queue.LeasedUntil, queue.Cursor = "next", f.clock.Now().Add(webhook.LeaseTerm), 0
	f.leaseIs(queue)
	queue.FailingSince = time.Time{}
	f.update(save(queue))
	f.leaseIs(queue)
}

func leaseEnds(f *fixture) {
	endpoint := f.endpoint().ID
	f.send(endpoint)
	f.claim("first", 1)
	f.clock.Advance(webhook.LeaseTerm - time.Millisecond)
	f.claimable()
	f.clock.Advance(time.Millisecond)
	f.leaseIs(webhook.Queue{Endpoint: endpoint, Lease: "first", LeasedUntil: f.clock.Now()}) // it was not claimed again yet
	f.same(f.claim("second", 1), []id.Webhook{endpoint})
	f.notHeld(endpoint, "first")
	f.release(endpoint, "first") // of no effect
	f.leaseIs(webhook.Queue{Endpoint: endpoint, Lease: "second", LeasedUntil: f.clock.Now().Add(webhook.LeaseTerm)})
}

func releasedWhenDue(f *fixture) {
	endpoint := f.endpoint().ID
	first, second := f.send(endpoint), f.send(endpoint)
	f.claim("lease", 1)
	f.saveDelivery(first.After(answered(f.clock.Now(), 200), 0, f.clock.Now()))
	second = second.After(answered(f.clock.Now(), 500), 0.5, f.clock.Now())
	f.saveDelivery(second)
	f.release(endpoint, "lease")
	f.claimable()
	f.clock.Advance(second.NextAttemptAt.Sub(f.clock.Now()) - time.Millisecond)
	f.claimable()
	f.clock.Advance(time.Millisecond)
	f.claimable(endpoint)

	f.claim("lease", 1)
	f.saveDelivery(second.After(answered(f.clock.Now(), 200), 0, f.clock.Now()))
	f.release(endpoint, "lease")
	f.clock.Advance(1000 * time.Hour)
	f.claimable()
}

func wakes(f *fixture) {
	endpoint := f.endpoint().ID
	failed := f.send(endpoint, ended(webhook.Failed))
	f.send(endpoint, dueIn(time.Hour), tried(1))
	f.send(endpoint, dueIn(time.Minute), tried(1))
	f.send(endpoint, dueIn(2*time.Minute), tried(1))
	f.clock.Advance(time.Minute - time.Millisecond)
	f.claimable()
	f.clock.Advance(time.Millisecond)
	f.claimable(endpoint)
	f.claim("lease", 1)
	due, err := f.store.Deliveries().Due(f.ctx, endpoint, f.clock.Now(), 1)
	f.ok(err)
	f.saveDelivery(due[0].After(answered(f.clock.Now(), 200), 0, f.clock.Now()))
	f.release(endpoint, "lease")
	f.claimable()
	f.saveDelivery(failed.Redeliver(f.clock.Now().Add(time.Second)))
	f.claimable()
	f.clock.Advance(time.Second)
	f.claimable(endpoint)
}

func enabledContinues(f *fixture) {
	endpoint := f.endpoint()
	f.send(endpoint.ID)
	f.claim("lease", 1)
	endpoint = f.reconnect(endpoint, disabled)
	f.release(endpoint.ID, "lease")
	f.claimable()
	endpoint = f.reconnect(endpoint, func(e *webhook.Endpoint) { e.Description = "Still disabled" })
	f.claimable()
	f.reconnect(endpoint, func(e *webhook.Endpoint) { e.Enabled = true })
	f.claimable(endpoint.ID)
}

// holdingForAMoment holds queues and resumes them, and claims them as they were, so that others find them so.
func holdingForAMoment(ctx context.Context, tx store.Tx) error {
	tx.Unrecorded()
	if _, err := tx.Outbox().Hold(ctx); err != nil {
		return err
	}
	held, err := tx.Outbox().Held(ctx, webhook.MostEndpoints)
	for _, one := range held {
		if err == nil {
			_, err = tx.Outbox().Resume(ctx, one.ID)
		}
	}
	if err != nil {
		return err
	}
	return claiming("lease", webhook.MostEndpoints, new([]webhook.Queue))(ctx, tx)
}

func holds(f *fixture) {
	leased, waits, off, idle := f.endpoint(), f.endpoint(), f.endpoint(disabled), f.endpoint()
	f.send(leased.ID)
	f.claim("lease", 1)
	f.send(waits.ID, dueIn(time.Minute))
	f.send(off.ID)
	hold := func(want int) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			held, err := tx.Outbox().Hold(ctx)
			f.same(held, want)
			return err
		})
	}
	resume := func(which id.Webhook, want bool) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			resumed, err := tx.Outbox().Resume(ctx, which)
			f.same(resumed, want)
			return err
		})
	}
	hold(3)
	f.notHeld(leased.ID, "lease")
	f.send(idle.ID)
	f.clock.Advance(time.Hour)
	f.claimable(idle.ID)
	f.update(func(ctx context.Context, tx store.Tx) error {
		held, err := tx.Outbox().Held(ctx, 2)
		f.same(len(held), 2)
		return err
	})
	resume(idle.ID, false)
	resume(leased.ID, true)
	resume(leased.ID, false)
	f.claimable(leased.ID, idle.ID)
	f.reconnect(off, func(e *webhook.Endpoint) { e.Enabled = true })
	f.claimable(leased.ID, idle.ID)
	resume(waits.ID, true)
	resume(off.ID, true)
	f.update(func(ctx context.Context, tx store.Tx) error {
		held, err := tx.Outbox().Held(ctx, 9)
		f.same(len(held), 0)
		return err
	})
}

func queueGoes(f *fixture) {
	gone := f.endpoint().ID
	f.send(gone)
	f.claim("lease", 1)
	f.update(disconnecting(gone))
	f.notHeld(gone, "lease")
	f.release(gone, "lease") // of no effect
	f.clock.Advance(webhook.LeaseTerm)
	f.claimable()
}

func claimGivenUp(f *fixture) {
	endpoint := f.endpoint().ID
	f.send(endpoint)
	f.claimable(endpoint)
	f.claimable(endpoint)
}

func claimAtOnce(f *fixture) {
	const queues, claimers, each = 200, 4, 7
	endpoints := make([]webhook.Endpoint, queues)
	deliveries := make([]webhook.Delivery, queues)
	for i := range endpoints {
		endpoints[i] = f.newEndpoint()
		deliveries[i] = f.newDelivery(endpoints[i].ID)
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		for _, endpoint := range endpoints {
			if err := connecting(endpoint)(ctx, tx); err != nil {
				return err
			}
		}
		for _, d := range deliveries {
			if err := tx.Deliveries().Add(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})

	var mutex sync.Mutex
	holders := map[id.Webhook]string{}
	f.exactly(together(claimers, func(i int) error {
		lease := fmt.Sprint("lease-", i)
		for {
			var claimed []webhook.Queue
			if err := f.store.Update(f.ctx, claiming(lease, each, &claimed)); err != nil || len(claimed) == 0 {
				return err
			}
			mutex.Lock()
			for _, endpoint := range endpointsOf(claimed) {
				if other, taken := holders[endpoint]; taken {
					f.Errorf("%s is leased by %s and %s", endpoint, other, lease)
				}
				holders[endpoint] = lease
			}
			mutex.Unlock()
		}
	}), map[fault.Code]int{"": claimers})
	f.same(len(holders), queues)
	for endpoint, lease := range holders {
		f.leaseIs(webhook.Queue{Endpoint: endpoint, Lease: lease, LeasedUntil: f.clock.Now().Add(webhook.LeaseTerm)})
	}
}

// workAtOnce lets each of a few work off a queue, as a worker does, while more is added to it.
func workAtOnce(f *fixture) {
	const workers, each = 6, 10
	endpoints := make([]id.Webhook, workers)
	for i := range endpoints {
		endpoints[i] = f.endpoint().ID
		f.send(endpoints[i])
	}
	f.same(len(f.claim("lease", workers)), workers)
	f.exactly(together(workers, func(i int) error {
		for range each {
			due, err := f.store.Deliveries().Due(f.ctx, endpoints[i], f.clock.Now(), 1)
			if err != nil {
				return err
			}
			more := f.newDelivery(endpoints[i])
			err = f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
				queue, err := tx.Outbox().Leased(ctx, endpoints[i], "lease")
				if err != nil {
					return err
				}
				d, err := tx.Deliveries().Lock(ctx, endpoints[i], due[0].ID)
				if err != nil {
					return err
				}
				attempt := answered(tx.Now(), 200)
				if err := tx.Deliveries().Save(ctx, d.After(attempt, 0, tx.Now())); err != nil {
					return err
				}
				if err := sending(more)(ctx, tx); err != nil {
					return err
				}
				queue, _ = queue.After(attempt)
				return tx.Outbox().Save(ctx, queue)
			})
			if err != nil {
				return err
			}
		}
		return f.store.Update(f.ctx, releasing(webhook.Queue{Endpoint: endpoints[i], Lease: "lease"}))
	}), map[fault.Code]int{"": workers})
	for _, endpoint := range endpoints {
		f.same(len(walk(f, 100, f.deliveryPages(endpoint, 100))), each+1)
	}
	f.claimable(endpoints...)
}
