package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var deliveryRules = []rule{
	{"a delivery reads back as it was added", deliveryReadsBack},
	{"a delivery is found with its own endpoint alone", deliveryNotFound},
	{"save replaces one delivery and no other", deliverySave},
	{"save of a delivery that is not there is a defect", deliverySaveNeedsDelivery},
	{"a list has what meets every condition, newest first", deliveryList},
	{"due are first the untried as they were made, then others as they are due", deliveriesDue},
	{"the deliveries of a company go with it, and no others", deliveriesOfCompany},
	{"purge removes what is older or without an endpoint, so many at most", purgeDeliveries},
}

// newDelivery makes a delivery that is due now and in no store yet.
func (f *fixture) newDelivery(endpoint id.Webhook, alter ...func(*webhook.Delivery)) webhook.Delivery {
	happened := event.Event{ID: id.New[id.Entry](f.ids.UUIDv7()), Company: "cmp_some", Type: event.CompanyUpdated}
	d := webhook.NewDelivery(id.New[id.Delivery](f.ids.UUIDv7()), endpoint, happened, f.clock.Now())
	for _, change := range alter {
		change(&d)
	}
	return d
}

// send adds a delivery, altered by each of alter.
func (f *fixture) send(endpoint id.Webhook, alter ...func(*webhook.Delivery)) webhook.Delivery {
	f.Helper()
	d := f.newDelivery(endpoint, alter...)
	f.update(sending(d))
	return d
}

func sending(d webhook.Delivery) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Deliveries().Add(ctx, d) }
}

// dueIn is when a delivery is to be attempted, by how long from when it was made.
func dueIn(wait time.Duration) func(*webhook.Delivery) {
	return func(d *webhook.Delivery) { d.NextAttemptAt = d.CreatedAt.Add(wait) }
}

func tried(times int) func(*webhook.Delivery) {
	return func(d *webhook.Delivery) { d.Tries = times }
}

func ended(status webhook.Status) func(*webhook.Delivery) {
	return func(d *webhook.Delivery) { d.Status, d.NextAttemptAt = status, time.Time{} }
}

// saveDelivery replaces a delivery.
func (f *fixture) saveDelivery(d webhook.Delivery) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Deliveries().Lock(ctx, d.Endpoint, d.ID); err != nil {
			return err
		}
		return tx.Deliveries().Save(ctx, d)
	})
}

// deliveryIs compares every way to read one delivery with want.
func (f *fixture) deliveryIs(want webhook.Delivery) {
	f.Helper()
	got, err := f.store.Deliveries().Get(f.ctx, want.Endpoint, want.ID)
	f.ok(err)
	f.same(got, want)
	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := tx.Deliveries().Lock(ctx, want.Endpoint, want.ID)
		if err == nil {
			f.same(locked, want)
		}
		return err
	})
}

func (f *fixture) dueAre(endpoint id.Webhook, at time.Time, most int, want ...webhook.Delivery) {
	f.Helper()
	got, err := f.store.Deliveries().Due(f.ctx, endpoint, at, most)
	f.ok(err)
	f.same(got, want)
}

// answered is an attempt that the endpoint answered.
func answered(at time.Time, status int) webhook.Attempt {
	return webhook.Attempt{At: at, Status: status, Latency: 15 * time.Second, Response: "{}"}
}

func deliveryReadsBack(f *fixture) {
	endpoint, at := f.endpoint().ID, f.clock.Now()
	for _, want := range []webhook.Delivery{
		f.send(endpoint),
		f.send(endpoint, func(d *webhook.Delivery) { d.Company = "" }),
		f.send(endpoint, ended(webhook.Failed), func(d *webhook.Delivery) {
			d.Tries = 12
			d.Attempts = []webhook.Attempt{
				answered(at, 302),
				{At: at.Add(time.Millisecond), Latency: time.Millisecond, Error: "connection refused"},
			}
		}),
		f.send(endpoint, ended(webhook.Succeeded), func(d *webhook.Delivery) {
			for range webhook.MostAttempts {
				attempt := answered(at.Add(time.Hour), 299)
				attempt.Response = strings.Repeat("\x00", webhook.MostResponse) // the longest when it is spelled in JSON
				d.Attempts = append(d.Attempts, attempt)
			}
		}),
	} {
		f.deliveryIs(want)
	}
}

func deliveryNotFound(f *fixture) {
	endpoint, other := f.endpoint().ID, f.endpoint().ID
	d := f.send(endpoint)
	for _, wrong := range []struct {
		endpoint id.Webhook
		delivery id.Delivery
	}{
		{endpoint, "dlv_00000000000000000000000000"}, {endpoint, ""}, {endpoint, "' OR '1'='1"},
		{other, d.ID}, {"", d.ID}, {"whk_none", d.ID}, {"", ""},
	} {
		_, err := f.store.Deliveries().Get(f.ctx, wrong.endpoint, wrong.delivery)
		f.code(err, fault.NotFound)
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Deliveries().Lock(ctx, wrong.endpoint, wrong.delivery)
			return err
		})
	}
	f.same(len(walk(f, 10, f.deliveryPages(other, 10))), 0)
	f.dueAre(other, f.clock.Now(), 10)
}

func deliverySave(f *fixture) {
	endpoint := f.endpoint().ID
	changed, untouched := f.send(endpoint), f.send(endpoint)
	for _, status := range []int{503, 0, 200} {
		changed = changed.After(answered(f.clock.Now(), status), 0.5, f.clock.Now())
		f.saveDelivery(changed)
		f.deliveryIs(changed)
	}
	f.clock.Advance(time.Minute)
	changed = changed.Redeliver(f.clock.Now())
	f.saveDelivery(changed)
	f.deliveryIs(changed)
	f.deliveryIs(untouched)
}

func deliverySaveNeedsDelivery(f *fixture) {
	missing := f.newDelivery(f.endpoint().ID)
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error { return tx.Deliveries().Save(ctx, missing) })
}

func deliveryList(f *fixture) {
	endpoint, other := f.endpoint().ID, f.endpoint().ID
	statuses := []webhook.Status{webhook.Pending, webhook.Succeeded, webhook.Failed}
	var all []webhook.Delivery
	f.severally(func(i int) {
		all = append(all, f.send(endpoint, func(d *webhook.Delivery) { d.Status = statuses[i%2] }))
		f.send(other)
	})
	slices.Reverse(all)
	for _, status := range append(statuses, "") {
		filter := store.DeliveryFilter{Endpoint: endpoint, Status: status}
		want := slices.DeleteFunc(slices.Clone(all), func(d webhook.Delivery) bool { return status != "" && d.Status != status })
		for _, size := range []int{1, 2, 5, len(all), page.MaxSize} {
			f.same(walk(f, size, func(after page.Position) (page.Page[webhook.Delivery], error) {
				return f.store.Deliveries().List(f.ctx, filter, after, size)
			}), want)
		}
	}
}

func deliveriesDue(f *fixture) {
	endpoint, at := f.endpoint().ID, f.clock.Now()
	redelivered := f.send(endpoint, ended(webhook.Failed))
	f.send(endpoint, ended(webhook.Succeeded))
	late := f.send(endpoint, tried(1), dueIn(2*time.Minute))
	later := f.send(endpoint, tried(2), dueIn(3*time.Minute))
	soon := f.send(endpoint, tried(3), dueIn(time.Minute))
	alsoSoon := f.send(endpoint, tried(1), dueIn(time.Minute))
	second := f.send(endpoint, dueIn(time.Minute))
	third := f.send(endpoint)
	postponed := f.send(endpoint, dueIn(time.Hour))
	redelivered = redelivered.Redeliver(at.Add(time.Minute))
	f.saveDelivery(redelivered)
	f.send(f.endpoint().ID)

	f.dueAre(endpoint, at.Add(-time.Millisecond), 10)
	f.dueAre(endpoint, at, 10, third)
	f.dueAre(endpoint, at.Add(time.Minute-time.Millisecond), 10, third)
	f.dueAre(endpoint, at.Add(time.Minute), 10, redelivered, second, third, soon, alsoSoon)
	f.dueAre(endpoint, at.Add(time.Hour), 10, redelivered, second, third, postponed, soon, alsoSoon, late, later)
	f.dueAre(endpoint, at.Add(time.Hour), 2, redelivered, second, soon, alsoSoon)
	f.dueAre(endpoint, at.Add(time.Hour), 1, redelivered, soon)
	f.reconnect(f.get(endpoint), disabled)
	f.dueAre(endpoint, at.Add(time.Hour), 1, redelivered, soon)
}

func (f *fixture) get(which id.Webhook) webhook.Endpoint {
	f.Helper()
	endpoint, err := f.store.Webhooks().Get(f.ctx, which)
	f.ok(err)
	return endpoint
}

func deliveriesOfCompany(f *fixture) {
	endpoint, acme := f.endpoint().ID, f.found("acme")
	ofCompany := func(which id.Company) func(*webhook.Delivery) {
		return func(d *webhook.Delivery) { d.Company = which }
	}
	for range 3 {
		f.send(endpoint, ofCompany(acme.ID), ended(webhook.Failed))
	}
	others := []webhook.Delivery{f.send(endpoint, ofCompany("cmp_other")), f.send(endpoint, ofCompany(""))}
	f.remove(acme.ID)
	f.dueAre(endpoint, f.clock.Now(), 10, others...)
	f.same(len(walk(f, 10, f.deliveryPages(endpoint, 10))), len(others))
}

func purgeDeliveries(f *fixture) {
	start := f.clock.Now()
	endpoints := make([]id.Webhook, 6)
	for i := range endpoints {
		endpoints[i] = f.endpoint().ID
	}
	for range 3 {
		for _, endpoint := range endpoints {
			f.send(endpoint, ended(webhook.Succeeded))
			f.send(endpoint)
		}
		f.clock.Advance(time.Millisecond)
	}
	for _, gone := range []int{0, 2, 3, 5} { // with the first and the last, and two that are neighbours
		f.update(disconnecting(endpoints[gone]))
	}
	left := func() (counts []int) {
		for _, endpoint := range []id.Webhook{endpoints[1], endpoints[4]} {
			counts = append(counts, len(walk(f, 10, f.deliveryPages(endpoint, 10))))
		}
		return counts
	}
	for i, step := range []struct {
		before     time.Time
		most, want int
		left       []int
	}{
		{start, 5, 5, []int{6, 6}},
		{start, 100, 19, []int{6, 6}},
		{start, 100, 0, []int{6, 6}},
		{start.Add(time.Millisecond), 100, 4, []int{4, 4}},
		{start.Add(time.Hour), 4, 4, []int{2, 2}},
		{start.Add(time.Hour), 100, 4, []int{0, 0}},
		{start.Add(time.Hour), 100, 0, []int{0, 0}},
	} {
		if got := f.purgeDeliveries(step.before, step.most); got != step.want {
			f.Fatalf("step %d removed %d, want %d", i, got, step.want)
		}
		f.same(left(), step.left)
	}

	// Both kinds share the number.
	orphan := f.endpoint().ID
	for range 2 {
		f.send(endpoints[1])
		f.send(orphan)
	}
	f.update(disconnecting(orphan))
	f.clock.Advance(time.Millisecond)
	f.same(f.purgeDeliveries(f.clock.Now(), 3), 3)
	f.same(f.purgeDeliveries(f.clock.Now(), 3), 1)
}

func (f *fixture) purgeDeliveries(before time.Time, most int) (removed int) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		var err error
		removed, err = tx.Deliveries().Purge(ctx, before, most)
		return err
	})
	return removed
}
