package deliveries_test

import (
	"context"
	"errors"
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
	units     []outcome // of the next units; those after them succeed
	reads     int       // so many fail
	isForGood bool      // all fails
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

// failsRead reports whether the next read fails.
func (o *outage) failsRead() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.reads--
	return o.isForGood || o.reads >= 0
}

// begin begins the outage.
func (o *outage) begin(how func(o *outage)) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	how(o)
}

func (o *outage) Webhooks() store.WebhookReader { return missing{o.Store.Webhooks(), o} }

type missing struct {
	store.WebhookReader
	*outage
}

func (m missing) Get(ctx context.Context, which id.Webhook) (webhook.Endpoint, error) {
	if m.failsRead() {
		return webhook.Endpoint{}, errOutage
	}
	return m.WebhookReader.Get(ctx, which)
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
		"reads":                       func(o *outage) { o.reads = 5 },
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
				if causes := f.errors.all(); len(log) != 2 || len(causes) != 0 || len(away.units) != 0 || away.reads > 0 {
					t.Errorf("%d deliveries, %q, left of the outage: %+v", len(log), causes, away)
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
