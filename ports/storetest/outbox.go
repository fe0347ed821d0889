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
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var outboxRules = []rule{
	{"an event enters when webhooks send it and an endpoint is enabled", eventEnters},
	{"it enters in its own unit", eventEntersInUnit},
	{"events get positions in the order in which they were recorded, each once", eventsQueuedInOrder},
	{"changes of one company are enqueued in their order, however many are concurrent", changesEnqueuedInOrder},
	{"units that enqueue events concurrently enqueue each event once", enqueueAtOnce},
	{"next are the events from a position on, so many at most", nextFromPosition},
	{"events of a company that is gone are left out once they were sent, and their positions are not given again", queuedOfCompany},
	{"outgoing reports events that webhooks send, once they are committed", outgoingReports},
	{"the backlog counts what waits, and since when", backlog},
}

// enqueue gives at most most events their positions, and returns them. The given endpoints want them.
func (f *fixture) enqueue(most int, wantedBy ...id.Webhook) (events []event.Event) {
	f.Helper()
	f.update(enqueueing(most, &events, wantedBy...))
	return f.whole(events)
}

// whole reads events with all of their fields.
func (f *fixture) whole(events []event.Event) []event.Event {
	f.Helper()
	found, err := f.store.Outbox().Events(f.ctx, entriesOf(events))
	f.ok(err)
	f.same(len(found), len(events))
	whole := make([]event.Event, len(events))
	for i, happened := range events {
		n := slices.IndexFunc(found, func(one store.Queued) bool { return one.ID == happened.ID })
		if n < 0 {
			f.Fatalf("%s is not there", happened.ID)
		}
		whole[i] = found[n].Event
	}
	return whole
}

func enqueueing(most int, events *[]event.Event, wantedBy ...id.Webhook) unit {
	return func(ctx context.Context, tx store.Tx) (err error) {
		if *events, err = tx.Outbox().Unqueued(ctx, most); err != nil {
			return err
		}
		if len(*events) > most {
			return fmt.Errorf("%d events, want %d at most", len(*events), most)
		}
		return tx.Outbox().Enqueue(ctx, entriesOf(*events), wantedBy)
	}
}

func entriesOf(events []event.Event) []id.Entry {
	which := make([]id.Entry, len(events))
	for i, happened := range events {
		which[i] = happened.ID
	}
	return which
}

// happens records events, each of a company of its own, and enqueues them.
func (f *fixture) happens(count int, wantedBy ...id.Webhook) []event.Event {
	f.Helper()
	for range count {
		f.update(recording(founded(f.newCompany("acme"))))
	}
	events := f.enqueue(count, wantedBy...)
	f.same(len(events), count)
	return events
}

// nextAre compares the events that an endpoint looks at from a position on with want.
func (f *fixture) nextAre(endpoint id.Webhook, from int64, want ...event.Event) {
	f.Helper()
	queued, err := f.store.Outbox().Next(f.ctx, endpoint, from, 100)
	f.ok(err)
	got := make([]event.Event, len(queued))
	for i, one := range queued {
		if got[i] = one.Event; one.Position < from || i > 0 && one.Position <= queued[i-1].Position {
			f.Fatalf("%d comes at %d", one.Position, i)
		}
	}
	f.same(got, want)
}

// entered adds an event of a new company and reports whether it entered the outbox.
func (f *fixture) entered(kind event.Type) bool {
	f.Helper()
	happened := founded(f.newCompany("acme"))
	happened.Type = kind
	f.update(recording(happened))
	return len(f.enqueue(10)) > 0
}

func eventEnters(f *fixture) {
	f.same(f.entered(event.CompanyCreated), false)
	endpoint := f.endpoint(disabled)
	f.same(f.entered(event.CompanyCreated), false)
	endpoint = f.reconnect(endpoint, func(e *webhook.Endpoint) { e.Enabled = true })
	f.endpoint(disabled)
	for kind, want := range map[event.Type]bool{
		event.CompanyCreated: true, event.CompanyDeleted: true, event.CompanyBudgetBreach: true,
		event.TokenCreated: true, event.WebhookUpdated: true, event.LeadImported: true, event.WebhookTest: false,
	} {
		if got := f.entered(kind); got != want {
			f.Errorf("%s: entered %v, want %v", kind, got, want)
		}
	}
	f.update(recording(founded(f.newCompany("acme"))))
	f.update(disconnecting(endpoint.ID))
	f.same(f.entered(event.CompanyCreated), true) // the one from before
	f.same(f.entered(event.CompanyCreated), false)
}

func eventEntersInUnit(f *fixture) {
	endpoint, happened := f.newEndpoint(), founded(f.newCompany("acme"))
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := connecting(endpoint)(ctx, tx); err != nil {
			return err
		}
		if err := recording(happened)(ctx, tx); err != nil {
			return err
		}
		events, err := tx.Outbox().Unqueued(ctx, 10)
		f.ok(err)
		f.same(len(events), 1)
		return errGivenUp
	})
	f.update(connecting(endpoint))
	f.waits(false)
	f.same(len(f.enqueue(10)), 0)
}

// waits compares whether there is work for webhooks now with want.
func (f *fixture) waits(want bool) {
	f.Helper()
	work, err := f.store.Outbox().Work(f.ctx, f.clock.Now())
	f.ok(err)
	if got := work.Unqueued || work.Due; got != want {
		f.Fatalf("work: %+v, want any: %v", work, want)
	}
}

func eventsQueuedInOrder(f *fixture) {
	endpoint := f.endpoint().ID
	var all []event.Event
	for i := range 9 {
		happened := founded(f.newCompany(fmt.Sprint(i)))
		f.update(recording(happened))
		all = append(all, happened)
		f.clock.Advance(-time.Second) // the clocks of several machines differ
	}
	unqueued := func(most int) (events []event.Event) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			var err error
			events, err = tx.Outbox().Unqueued(ctx, most)
			return err
		})
		return f.whole(events)
	}
	f.waits(true)
	f.same(len(unqueued(4)), 4)
	got := unqueued(100)
	for i := range all {
		all[i].ID, all[i].At = got[i].ID, got[i].At
		kept, err := f.store.Activity().Get(f.ctx, got[i].ID)
		f.ok(err)
		f.same(kept, got[i])
		f.sorted(got[i].Data)
	}
	f.same(got, all)
	enqueue := func(events ...event.Event) unit {
		return func(ctx context.Context, tx store.Tx) error { return tx.Outbox().Enqueue(ctx, entriesOf(events), nil) }
	}
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := enqueue(all...)(ctx, tx); err != nil {
			return err
		}
		return errGivenUp
	})
	f.update(enqueue())
	f.nextAre(endpoint, 1)
	f.update(enqueue(all[4], all[0]))
	f.same(unqueued(100), slices.Delete(slices.Clone(all[1:]), 3, 4))
	f.nextAre(endpoint, 1, all[4], all[0])
	f.enqueue(100)
	f.same(len(unqueued(100)), 0)
	f.waits(false)
	f.nextAre(endpoint, 1, all[4], all[0], all[1], all[2], all[3], all[5], all[6], all[7], all[8])
	queued, err := f.store.Outbox().Next(f.ctx, endpoint, 9, 100)
	f.ok(err)
	f.same(queued, []store.Queued{{Event: all[8], Position: 9}})
}

func changesEnqueuedInOrder(f *fixture) {
	const each = 4
	f.endpoint()
	acme := f.found("acme")
	f.exactly(together(crowd, func(i int) error {
		for round := range each {
			if err := f.store.Update(f.ctx, moving(acme.ID, rename(fmt.Sprint(i, round)))); err != nil {
				return err
			}
		}
		return nil
	}), map[fault.Code]int{"": crowd})
	f.inOrder(acme.Name, f.enqueue(1000)[1:], crowd*each)
}

// inOrder follows a company from name to name through its renamings.
func (f *fixture) inOrder(name any, renamings []event.Event, want int) {
	f.Helper()
	f.same(len(renamings), want)
	for _, renaming := range renamings {
		f.same(fieldOf(renaming.Previous, "name"), name)
		name = fieldOf(renaming.Data, "name")
	}
}

func fieldOf(fields event.Fields, name string) any {
	i := slices.IndexFunc(fields, func(field event.Field) bool { return field.Name == name })
	if i < 0 {
		return nil
	}
	return fields[i].Value
}

// enqueueAtOnce lets several enqueue events while several others change two companies.
func enqueueAtOnce(f *fixture) {
	const writers, enqueuers, each = 2, 3, 20
	endpoint := f.endpoint().ID
	var names [writers]string
	var companies [writers]id.Company
	for i := range writers {
		c := f.found(fmt.Sprint("c-", i))
		names[i], companies[i] = c.Name, c.ID
	}
	f.enqueue(writers)

	var writing sync.WaitGroup
	writing.Add(writers)
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	f.exactly(together(writers+enqueuers, func(i int) error {
		if i < writers {
			defer writing.Done()
			for round := range each {
				if err := f.store.Update(f.ctx, moving(companies[i], rename(fmt.Sprint(round)))); err != nil {
					return err
				}
			}
			return nil
		}
		return until(done, func() (idle bool, err error) {
			var events []event.Event
			err = f.store.Update(f.ctx, enqueueing(3, &events))
			return len(events) == 0, err
		})
	}), map[fault.Code]int{"": writers + enqueuers})

	f.waits(false)
	queued, err := f.store.Outbox().Next(f.ctx, endpoint, 1, 1000)
	f.ok(err)
	f.same(len(queued), writers+writers*each)
	f.same(queued[len(queued)-1].Position, int64(len(queued)))
	for i, company := range companies {
		var own []event.Event
		for _, one := range queued {
			if one.Company == company {
				own = append(own, one.Event)
			}
		}
		f.inOrder(names[i], own[1:], each)
	}
}

// until does work again and again, until it finds none once done is closed.
func until(done <-chan struct{}, work func() (idle bool, err error)) error {
	for last := false; ; {
		idle, err := work()
		if err != nil || last && idle {
			return err
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
}

func nextFromPosition(f *fixture) {
	one, other := f.endpoint().ID, f.endpoint().ID
	f.nextAre(one, 1)
	all := f.happens(7)
	unqueued := founded(f.newCompany("acme"))
	f.update(recording(unqueued))
	for from := range int64(7) {
		f.nextAre(one, from+1, all[from:]...)
	}
	f.nextAre(one, 8)
	f.nextAre(other, 3, all[2:]...)
	queued, err := f.store.Outbox().Next(f.ctx, one, 3, 2)
	f.ok(err)
	f.same(queued, []store.Queued{{Event: all[2], Position: 3}, {Event: all[3], Position: 4}})
	f.sorted(queued[0].Data)
}

func queuedOfCompany(f *fixture) {
	endpoint, acme := f.endpoint().ID, f.found("acme")
	f.enqueue(10)
	others := f.happens(2)
	f.update(moving(acme.ID, rename("Last")))
	f.enqueue(10)
	f.nextAre(endpoint, 2, append(others, f.newest())...) // no queue has to look at them
	f.update(func(ctx context.Context, tx store.Tx) error {
		if err := removing(acme.ID)(ctx, tx); err != nil {
			return err
		}
		return tx.Record(ctx, acme.Deleted().By(actor))
	})
	f.nextAre(endpoint, 1, others...)
	lastWords := f.enqueue(10)
	f.same(len(lastWords), 1)
	f.same(lastWords[0].Type, event.CompanyDeleted)
	f.nextAre(endpoint, 1, append(others, lastWords...)...)
	f.nextAre(endpoint, 5, lastWords...) // not 4, which was that of the renaming
}

// newest is the event that was recorded last.
func (f *fixture) newest() event.Event {
	f.Helper()
	found, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, 1)
	f.ok(err)
	return found.Items[0]
}

func outgoingReports(f *fixture) {
	outgoing := func(want bool) {
		f.Helper()
		select {
		case <-f.store.Outgoing():
			f.same(true, want)
		default:
			f.same(false, want)
		}
	}
	outgoing(false)
	happened := founded(f.newCompany("acme"))
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := recording(happened)(ctx, tx); err != nil {
			return err
		}
		return errGivenUp
	})
	outgoing(false)
	unsent := happened
	unsent.Type = event.WebhookTest
	f.update(recording(unsent))
	f.update(recording())
	outgoing(false)
	f.update(recording(unsent, happened, unsent))
	outgoing(true)
	outgoing(false)
	f.update(recording(happened))
	f.update(recording(happened))
	f.update(recording(unsent))
	outgoing(true)
	outgoing(false)
}

func backlog(f *fixture) {
	is := func(want store.Backlog) {
		f.Helper()
		got, err := f.store.Outbox().Backlog(f.ctx)
		f.ok(err)
		f.same(got, want)
	}
	at := f.clock.Now()
	is(store.Backlog{})
	off, on, gone := f.endpoint(disabled), f.endpoint(), f.endpoint()
	is(store.Backlog{})
	f.update(recording(founded(f.newCompany("acme")), founded(f.newCompany("other"))))
	is(store.Backlog{Unqueued: 2})
	f.send(off.ID)
	f.send(gone.ID, dueIn(time.Second))
	f.send(on.ID, ended(webhook.Succeeded))
	f.send(on.ID, ended(webhook.Failed))
	is(store.Backlog{Unqueued: 2, Pending: 2, DueSince: at.Add(time.Second)})
	f.update(disconnecting(gone.ID))
	is(store.Backlog{Unqueued: 2, Pending: 1})
	f.send(on.ID, dueIn(time.Hour), tried(1))
	is(store.Backlog{Unqueued: 2, Pending: 2, DueSince: at.Add(time.Hour)})
	f.clock.Advance(time.Second)
	f.enqueue(1, on.ID)
	is(store.Backlog{Unqueued: 1, Pending: 2, DueSince: at.Add(time.Second)})
	f.clock.Advance(time.Second)
	f.enqueue(1, on.ID)
	is(store.Backlog{Pending: 2, DueSince: at.Add(time.Second)})
	f.reconnect(off, func(e *webhook.Endpoint) { e.Enabled = true })
	is(store.Backlog{Pending: 2, DueSince: at})
}
