package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var removalRules = []rule{
	{"events that a queue has not passed stay, hidden, when their company is removed", removalKeepsUnsent},
	{"events that every queue has passed go with their company", removalDropsPassed},
	{"an event that a disabled endpoint skips goes with its company", removalDropsSkipped},
	{"pending deliveries and their events stay, hidden, when their company is removed", removalKeepsPending},
	{"what was not sent in time goes nevertheless", removalDropsOld},
	{"endpoints of a removed company are finished when they have passed its last event and nothing is pending", removalFinishes},
	{"a removal is due until it is postponed or closed", removalDue},
	{"a purge of a removal removes so many rows at most", removalInSteps},
	{"a company with many events that have still to be sent is emptied nevertheless", removalOfMany},
}

// renames records changes of a company, and returns their events.
func (f *fixture) renames(which id.Company, names ...string) []event.Event {
	f.Helper()
	var events []event.Event
	for _, name := range names {
		f.update(moving(which, rename(name)))
		events = append(events, f.newest())
	}
	return events
}

// removeForGood removes a company as its deletion does, with its last event, and returns that.
func (f *fixture) removeForGood(c company.Company) event.Event {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		if err := removing(c.ID)(ctx, tx); err != nil {
			return err
		}
		return tx.Record(ctx, c.Deleted().By(actor))
	})
	return f.newest()
}

// purge purges what a removed company has left, and compares whether something is left with want.
func (f *fixture) purge(which id.Company, want bool) {
	f.Helper()
	f.purgeBefore(which, time.Time{}, 1000, want)
}

func (f *fixture) purgeBefore(which id.Company, before time.Time, most int, want bool) {
	f.Helper()
	var reached page.Position
	for more := true; more; {
		var left bool
		f.update(func(ctx context.Context, tx store.Tx) (err error) {
			reached, more, left, err = tx.Removals().Purge(ctx, which, before, reached, most)
			return err
		})
		if !more {
			f.same(left, want)
		}
	}
}

// hidden checks that no reader shows anything of a company.
func (f *fixture) hidden(which id.Company, entries []event.Event, deliveries ...webhook.Delivery) {
	f.Helper()
	found, err := f.store.Activity().List(f.ctx, store.ActivityFilter{Company: &which}, page.Position{}, 10)
	f.ok(err)
	f.same(len(found.Items), 0)
	for _, entry := range entries {
		_, err := f.store.Activity().Get(f.ctx, entry.ID)
		f.code(err, fault.NotFound)
	}
	for _, d := range deliveries {
		_, err := f.store.Deliveries().Get(f.ctx, d.Endpoint, d.ID)
		f.code(err, fault.NotFound)
		f.same(len(walk(f, 10, f.deliveryPages(d.Endpoint, 10))), 0)
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Deliveries().Lock(ctx, d.Endpoint, d.ID)
			return err
		})
	}
}

// passes moves the queue of an endpoint after the last event.
func (f *fixture) passes(endpoint id.Webhook) {
	f.Helper()
	queue := f.takeUp(endpoint)
	queue.Cursor = 1000
	f.update(releasing(queue))
}

func removalKeepsUnsent(f *fixture) {
	acme := f.found("acme") // before there is an endpoint: this event is in no outbox
	one, other := f.endpoint().ID, f.endpoint().ID
	waiting := f.renames(acme.ID, "one", "two")
	f.enqueue(1, one, other)
	last := f.removeForGood(acme)
	f.hidden(acme.ID, waiting)
	f.purge(acme.ID, true)
	f.enqueue(10)
	f.nextAre(one, 1, waiting[0], waiting[1], last)
	f.passes(one)
	f.purge(acme.ID, true)
	f.nextAre(other, 1, waiting[0], waiting[1], last)
	f.passes(other)
	f.purge(acme.ID, false)
	f.nextAre(one, 1, last)
}

func removalDropsPassed(f *fixture) {
	acme, endpoint := f.found("acme"), f.endpoint().ID
	passed := f.renames(acme.ID, "one", "two")
	f.enqueue(10, endpoint)
	f.passes(endpoint)
	f.update(removing(acme.ID))
	f.hidden(acme.ID, passed)
	f.nextAre(endpoint, 1)
	f.purge(acme.ID, false)
}

func removalDropsSkipped(f *fixture) {
	acme, endpoint := f.found("acme"), f.endpoint()
	f.endpoint()
	waiting := f.renames(acme.ID, "waits")
	f.enqueue(10, endpoint.ID)
	endpoint = f.reconnect(endpoint, disabled)
	f.renames(acme.ID, "skipped")
	f.enqueue(10)
	f.update(removing(acme.ID))
	f.nextAre(endpoint.ID, 1, waiting...)
	endpoint = f.enable(endpoint)
	f.nextAre(endpoint.ID, 1, waiting...)
	f.purge(acme.ID, true)
	f.passes(endpoint.ID)
	f.purge(acme.ID, false)
}

func removalKeepsPending(f *fixture) {
	acme, endpoint := f.found("acme"), f.endpoint().ID
	events := f.renames(acme.ID, "sent", "pending")
	f.enqueue(10, endpoint)
	f.passes(endpoint)
	of := func(happened event.Event) func(*webhook.Delivery) {
		return func(d *webhook.Delivery) { d.Event, d.Company = happened.ID, acme.ID }
	}
	f.send(endpoint, of(events[0]), ended(webhook.Succeeded))
	pending := f.send(endpoint, of(events[1]), tried(1))
	f.update(removing(acme.ID))
	f.hidden(acme.ID, events, pending)
	f.purge(acme.ID, true)
	f.dueAre(endpoint, f.clock.Now(), 10, pending)
	kept, err := f.store.Outbox().Events(f.ctx, entriesOf(events))
	f.ok(err)
	f.same(kept, []store.Queued{{Event: events[1], Position: 2}})

	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := tx.Deliveries().LockAll(ctx, endpoint, []id.Delivery{pending.ID, "dlv_none"})
		if err != nil {
			return err
		}
		f.same(locked, map[id.Delivery]webhook.Delivery{pending.ID: pending})
		return tx.Deliveries().Save(ctx, pending.After(answered(tx.Now(), 200), 0, tx.Now()))
	})
	f.purge(acme.ID, false)

	// A delivery to an endpoint that is gone is not pending any more.
	other := f.found("other")
	gone := f.endpoint().ID
	last := f.renames(other.ID, "pending")
	f.enqueue(10)
	f.send(gone, func(d *webhook.Delivery) { d.Event, d.Company = last[0].ID, other.ID })
	f.update(removing(other.ID))
	f.purge(other.ID, true)
	f.update(disconnecting(gone))
	f.purge(other.ID, false)
}

func removalDropsOld(f *fixture) {
	acme, endpoint := f.found("acme"), f.endpoint().ID
	f.renames(acme.ID, "one")
	f.clock.Advance(time.Hour)
	young := f.renames(acme.ID, "two")
	f.enqueue(10, endpoint)
	f.update(removing(acme.ID))
	f.purgeBefore(acme.ID, f.clock.Now(), 1000, true)
	f.nextAre(endpoint, 1, young...)
	f.purgeBefore(acme.ID, f.clock.Now().Add(time.Millisecond), 1000, false)
	f.nextAre(endpoint, 1)
}

func removalFinishes(f *fixture) {
	acme := f.found("acme")
	boundTo := func(which id.Company) func(*webhook.Endpoint) {
		return func(e *webhook.Endpoint) { e.Company = which }
	}
	idle, busy, free := f.endpoint(boundTo(acme.ID)), f.endpoint(boundTo(acme.ID)), f.endpoint()
	f.endpoint(boundTo("cmp_other"))
	off, waiting := f.endpoint(boundTo(acme.ID), disabled), f.endpoint(boundTo(acme.ID))
	f.renames(acme.ID, "waits")
	f.enqueue(10, waiting.ID)
	waiting = f.reconnect(waiting, disabled)
	finished := func(want ...webhook.Endpoint) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			got, err := tx.Removals().Finished(ctx, acme.ID)
			if err == nil {
				f.same(got, want)
			}
			return err
		})
	}
	finished() // the company is not removed
	last := f.removeForGood(acme)
	finished() // its last event has no position yet
	f.enqueue(10, busy.ID, free.ID)
	finished(idle, off)
	f.passes(busy.ID)
	finished(idle, busy, off)
	f.passes(free.ID)
	waiting = f.enable(waiting)
	finished(idle, busy, off)
	f.passes(waiting.ID)
	finished(idle, busy, off, waiting)
	pending := f.send(busy.ID, func(d *webhook.Delivery) { d.Event, d.Company = last.ID, "" })
	finished(idle, off, waiting)
	f.saveDelivery(pending.After(answered(f.clock.Now(), 200), 0, f.clock.Now()))
	finished(idle, busy, off, waiting)
	f.purge(acme.ID, true) // its endpoints are left
}

func removalDue(f *fixture) {
	due := func(want ...store.Removal) {
		f.Helper()
		got, err := f.store.Removals().Due(f.ctx, f.clock.Now(), 2)
		f.ok(err)
		f.same(got, want)
	}
	due()
	var all []store.Removal
	for _, slug := range []string{"one", "two", "three"} {
		c := f.found(slug)
		f.removeForGood(c)
		all = append(all, store.Removal{Company: c.ID, RemovedAt: f.clock.Now()})
		f.clock.Advance(time.Millisecond)
	}
	due(all[0], all[1])
	postpone := func(n int, by time.Duration) {
		f.update(func(ctx context.Context, tx store.Tx) error {
			return tx.Removals().Postpone(ctx, all[n].Company, f.clock.Now().Add(by))
		})
	}
	postpone(0, 2*time.Second)
	postpone(1, time.Second)
	due(all[2])
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Removals().Close(ctx, all[2].Company) })
	due()
	f.clock.Advance(time.Second)
	due(all[1])
	f.clock.Advance(time.Second)
	due(all[1], all[0])
}

func removalInSteps(f *fixture) {
	acme, endpoint := f.found("acme"), f.endpoint().ID
	f.renames(acme.ID, "1", "2", "3", "4", "5")
	f.enqueue(10, endpoint)
	f.update(removing(acme.ID))
	f.passes(endpoint)
	rows := func(table string, of id.Company) int {
		f.Helper()
		return len(slices.DeleteFunc(f.dump()[table], func(row string) bool { return !strings.Contains(row, string(of)) }))
	}
	f.purgesInSteps(acme.ID, func(n int) { f.same(rows("activity", acme.ID), []int{3, 1, 0}[n]) }, true, true, false)

	// What has still to be sent is looked at in steps too, and holds up nothing behind it.
	other := f.found("other")
	waiting := f.renames(other.ID, "1", "2", "3", "4", "5")
	f.enqueue(10, endpoint)
	var pending []webhook.Delivery
	for _, happened := range waiting[:4] {
		of := func(d *webhook.Delivery) { d.Event, d.Company = happened.ID, other.ID }
		pending = append(pending, f.send(endpoint, of, tried(1)))
	}
	f.update(removing(other.ID))
	f.passes(endpoint)
	f.purgesInSteps(other.ID, func(n int) { // its first event is one more
		if n == 0 {
			f.update(func(ctx context.Context, tx store.Tx) error {
				if _, err := tx.Deliveries().LockAll(ctx, endpoint, []id.Delivery{pending[0].ID}); err != nil {
					return err
				}
				return tx.Deliveries().Save(ctx, pending[0].After(answered(tx.Now(), 200), 0, tx.Now()))
			})
		}
	}, true, true, true, false)
	f.same(rows("deliveries", other.ID), 4) // no step but the first looked for those that are not pending
	keeps := func(want int) {
		f.Helper()
		kept, err := f.store.Outbox().Events(f.ctx, entriesOf(waiting))
		f.ok(err)
		f.same(len(kept), want)
	}
	keeps(4)
	f.purge(other.ID, true)
	f.same(rows("deliveries", other.ID), 3)
	keeps(3)
}

func removalOfMany(f *fixture) {
	acme, endpoint := f.found("acme"), f.endpoint().ID
	events := make([]event.Event, 250)
	for n := range events {
		events[n] = founded(acme)
	}
	f.update(recording(events...))
	f.enqueue(300, endpoint)
	f.same(f.empty(acme.ID, 1000), true)
	f.update(removing(acme.ID))
	f.purge(acme.ID, true)
	f.passes(endpoint)
	f.purgeBefore(acme.ID, time.Time{}, 100, false)
}

// purgesInSteps purges what a removed company has left, by two rows, and compares whether there is more after each step.
func (f *fixture) purgesInSteps(which id.Company, after func(step int), want ...bool) {
	f.Helper()
	var reached page.Position
	for step, more := range want {
		f.update(func(ctx context.Context, tx store.Tx) error {
			next, isMore, _, err := tx.Removals().Purge(ctx, which, time.Time{}, reached, 2)
			f.same(isMore, more)
			reached = next
			return err
		})
		after(step)
	}
}
