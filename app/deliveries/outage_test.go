package deliveries_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// outage is a store that is unavailable when the test says so.
type outage struct {
	store.Store
	mutex     sync.Mutex
	units     []outcome      // of the next units; those after them succeed
	reads     map[string]int // by their names; so many fail
	isForGood bool           // all fails
	onFailure func()
}

// outcome is what becomes of a unit.
type outcome int

const (
	refused   outcome = iota // it does not begin
	undone                   // it is not committed
	uncertain                // it is committed, but this is not known
	succeeds
)

var errOutage = fault.New(fault.Unavailable, "The store is away.")

func (o *outage) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	switch o.next() {
	case refused:
		return errOutage
	case undone:
		return o.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return errors.Join(write(ctx, tx), errOutage)
		})
	case uncertain:
		return errors.Join(o.Store.Update(ctx, write), errOutage)
	}
	return o.Store.Update(ctx, write)
}

// next is what becomes of the next unit.
func (o *outage) next() outcome {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	next := succeeds
	if len(o.units) > 0 {
		next, o.units = o.units[0], o.units[1:]
	}
	if o.isForGood {
		next = refused
	}
	if next != succeeds && o.onFailure != nil {
		o.onFailure()
	}
	return next
}

// read makes a read, which may fail.
func read[T any](o *outage, name string, do func() (T, error)) (T, error) {
	o.mutex.Lock()
	fails := o.isForGood || o.reads[name] > 0
	if o.reads[name] > 0 {
		o.reads[name]--
	}
	o.mutex.Unlock()
	if fails {
		return *new(T), errOutage
	}
	return do()
}

// fails reports whether a unit or a read is still to fail.
func (o *outage) fails() bool {
	return len(o.units) > 0 || slices.Max(append(slices.Collect(maps.Values(o.reads)), 0)) > 0
}

// begin begins the outage.
func (o *outage) begin(how func(o *outage)) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	how(o)
}

func (o *outage) Webhooks() store.WebhookReader { return webhooks{o.Store.Webhooks(), o} }

type webhooks struct {
	store.WebhookReader
	outage *outage
}

func (w webhooks) Get(ctx context.Context, which id.Webhook) (webhook.Endpoint, error) {
	return read(w.outage, "endpoint", func() (webhook.Endpoint, error) { return w.WebhookReader.Get(ctx, which) })
}

func (o *outage) Outbox() store.OutboxReader { return outbox{o.Store.Outbox(), o} }

type outbox struct {
	store.OutboxReader
	outage *outage
}

func (b outbox) Next(ctx context.Context, endpoint id.Webhook, from int64, most int) ([]store.Queued, error) {
	return read(b.outage, "events", func() ([]store.Queued, error) { return b.OutboxReader.Next(ctx, endpoint, from, most) })
}

func (b outbox) Events(ctx context.Context, which []id.Entry) ([]store.Queued, error) {
	return read(b.outage, "events of retries", func() ([]store.Queued, error) { return b.OutboxReader.Events(ctx, which) })
}

func (o *outage) Deliveries() store.DeliveryReader { return retries{o.Store.Deliveries(), o} }

type retries struct {
	store.DeliveryReader
	outage *outage
}

func (r retries) Due(ctx context.Context, endpoint id.Webhook, at time.Time, most int) ([]webhook.Delivery, error) {
	return read(r.outage, "retries", func() ([]webhook.Delivery, error) { return r.DeliveryReader.Due(ctx, endpoint, at, most) })
}

// An outage in which a worker has a queue delays what follows no longer than it lasts, and nothing is sent twice that was sent.
func TestAnOutageWhileAQueueIsLeasedHoldsUpNothingAfterIt(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(o *outage){
		"release":                     func(o *outage) { o.units = []outcome{succeeds, refused, undone, refused} },
		"release, outcome unknown":    func(o *outage) { o.units = []outcome{succeeds, uncertain} },
		"record":                      func(o *outage) { o.units = []outcome{refused, undone, undone} },
		"record, outcome unknown":     func(o *outage) { o.units = []outcome{uncertain} },
		"record, once more unknown":   func(o *outage) { o.units = []outcome{undone, uncertain, uncertain} },
		"record and release, unknown": func(o *outage) { o.units = []outcome{uncertain, succeeds, uncertain, refused} },
		"reads of the endpoint":       func(o *outage) { o.reads = map[string]int{"endpoint": 5} },
		"reads of events":             func(o *outage) { o.reads = map[string]int{"events": 5} },
		"reads of retries":            func(o *outage) { o.reads = map[string]int{"retries": 5} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				away := &outage{Store: f.store}
				f.service = f.serviceOn(away)
				f.latency = time.Second // long enough for the worker to look at the endpoint again
				hook := f.subscribe(t)
				f.happen(t, "one")
				f.answer = func(message webhook.Message) webhook.Attempt {
					f.answer = ok
					away.begin(during)
					return ok(message)
				}
				must(t, f.deliver(t))
				f.happen(t, "two")
				must(t, f.deliver(t)) // at once: no lease has ended
				if had := f.had(); !slices.Equal(had, []string{"one", "two"}) {
					t.Errorf("sent were %q", had)
				}
				log := f.log(t, hook)
				for _, delivery := range log {
					if delivery.Status != webhook.Succeeded || len(delivery.Attempts) != 1 {
						t.Errorf("%+v", delivery)
					}
				}
				if causes := f.errors.all(); len(log) != 2 || len(causes) != 0 || away.fails() {
					t.Errorf("%d deliveries, %q, left of the outage: %+v", len(log), causes, away)
				}
			})
		})
	}
}

// What is to be retried waits for the end of an outage in the hands of one worker, which says so if that comes too late.
func TestAnOutageWhileRetriesAreReadIsSeenByTheirWorker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		during map[string]int
		had    int
		causes int
	}{
		"retries":               {map[string]int{"retries": 5}, 2, 0},
		"the events of retries": {map[string]int{"events of retries": 5}, 2, 0},
		"events as well":        {map[string]int{"retries": 2, "events": 2}, 2, 0},
		"for good":              {map[string]int{"retries": 1000}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.subscribe(t)
				f.happen(t, "one")
				f.answer = func(message webhook.Message) webhook.Attempt {
					f.answer = ok
					return webhook.Attempt{At: message.At, Status: 500}
				}
				must(t, f.deliver(t))
				f.clock.advance(time.Minute)
				f.clock.tick = 10 * time.Millisecond // so that the lease ends
				f.service = f.serviceOn(&outage{Store: f.store, reads: c.during})
				must(t, f.deliver(t))
				if had, causes := f.had(), f.errors.all(); len(had) != c.had || len(causes) != c.causes {
					t.Errorf("sent were %q, %q", had, causes)
				}
			})
		})
	}
}

// Whoever does not know whether it has leased a queue sends nothing, and lets nobody wait.
func TestAClaimWhoseOutcomeIsUnknownIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]outcome{"committed": uncertain, "undone": undone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				away := &outage{Store: f.store}
				f.service = f.serviceOn(away)
				f.subscribe(t)
				f.happen(t, "one")
				f.enqueue(t)
				away.units = []outcome{claim, refused}
				if err := f.deliver(t); fault.CodeOf(err) != fault.Unavailable {
					t.Errorf("%v", err)
				}
				f.service.Wait()
				if had := f.had(); len(had) != 0 {
					t.Errorf("%q were sent without a lease", had)
				}
				must(t, f.deliver(t))
				if had, causes := f.had(), f.errors.all(); !slices.Equal(had, []string{"one"}) || len(causes) != 0 {
					t.Errorf("sent were %q, %q", had, causes)
				}
			})
		})
	}
}

func TestAWorkerGivesUpWhenItsLeaseHasEndedInAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		away := &outage{Store: f.store, onFailure: func() { f.clock.advance(time.Second) }}
		f.service = f.serviceOn(away)
		f.subscribe(t)
		f.happen(t, "one")
		f.answer = func(message webhook.Message) webhook.Attempt {
			away.begin(func(o *outage) { o.isForGood = true })
			return ok(message)
		}
		must(t, f.deliver(t))
		if causes := f.errors.all(); len(causes) != 1 || !strings.Contains(causes[0], "away") {
			t.Errorf("%q", causes)
		}
		away.isForGood = false
		f.clock.advance(time.Second)
		must(t, f.deliver(t))
		if had := f.had(); !slices.Equal(had, []string{"one", "one"}) { // nobody knows that it was sent
			t.Errorf("sent were %q", had)
		}
	})
}

func TestAStopInAnOutageIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.parallel = 2
		away := &outage{Store: f.store}
		f.service = f.serviceOn(away)
		f.latency = time.Second // long enough for the worker to look at the endpoint again
		f.subscribe(t)
		f.happen(t, "one")
		f.happen(t, "two")
		stopped, stop := context.WithCancel(t.Context())
		f.answer = func(message webhook.Message) webhook.Attempt {
			away.begin(func(o *outage) { o.isForGood = true })
			time.AfterFunc(2*time.Second, stop)
			return ok(message)
		}
		if _, err := f.service.Deliver(stopped); err != nil {
			t.Fatal(err)
		}
		<-stopped.Done()
		began := time.Now()
		f.service.Wait()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the stop took %s", took)
		}
	})
}
