package deliveries_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/deliveries"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// What goes wrong between a worker and the store is tested here, where time and answers can be held still. That webhooks
// arrive is tested through the API, on both stores.

func TestAnAttemptIsOfNoAccountOnceTheLeaseIsAnothers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	other := f.another()
	f.answer = func(webhook.Message) webhook.Attempt {
		f.answer = ok
		f.clock.advance(webhook.LeaseTerm) // it took too long, and another process has begun
		must(t, other.deliver(t))
		return webhook.Attempt{At: f.clock.Now(), Status: 500}
	}
	must(t, f.deliver(t))
	log := f.log(t, hook)
	if len(f.had()) != 2 || len(log) != 1 || log[0].Status != webhook.Succeeded || len(log[0].Attempts) != 1 {
		t.Errorf("%d messages, %+v", len(f.had()), log)
	}
}

func TestASuspendedWorkerLosesItsQueueToTheNextOneOfItsProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		hook := f.subscribe(t)
		stalling := &stalling{Store: f.store, stall: func() {}}
		f.service = f.serviceOn(stalling)
		deliver := func() {
			t.Helper()
			_, err := f.service.Deliver(t.Context())
			must(t, err)
			time.Sleep(time.Second) // what came of attempts is recorded
			synctest.Wait()
		}

		wake := make(chan struct{})
		f.answer = func(message webhook.Message) webhook.Attempt {
			stalling.stall = func() { <-wake }
			return ok(message)
		}
		f.happen(t, "one")
		deliver() // by one that is suspended before it looks what is next

		finish := make(chan struct{})
		f.answer = func(message webhook.Message) webhook.Attempt {
			<-finish
			return ok(message)
		}
		stalling.stall = func() {}
		f.clock.advance(webhook.LeaseTerm)
		f.happen(t, "two")
		deliver() // by the next one, whose attempt is in flight now

		close(wake)
		synctest.Wait()
		if had := f.had(); !slices.Equal(had, []string{"one", "two"}) {
			t.Errorf("sent were %q: two workers have the queue", had)
		}
		close(finish)
		f.service.Wait()
		log := f.log(t, hook)
		for _, delivery := range log {
			if delivery.Status != webhook.Succeeded || len(delivery.Attempts) != 1 {
				t.Errorf("%+v", delivery)
			}
		}
		if len(log) != 2 || len(f.errors.all()) != 0 {
			t.Errorf("%d deliveries, %q", len(log), f.errors.all())
		}
	})
}

func TestAQueueThatWasNotReleasedContinuesWhenItsLeaseHasEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.enqueue(t)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		claimed, err := tx.Outbox().Claim(ctx, "a process that died", tx.Now().Add(webhook.LeaseTerm), 10)
		if len(claimed) != 1 || claimed[0].Endpoint != hook {
			t.Errorf("claimed %v", claimed)
		}
		return err
	}))
	must(t, f.deliver(t))
	if had := f.had(); len(had) != 0 {
		t.Fatalf("%q were sent under another's lease", had)
	}
	f.clock.advance(webhook.LeaseTerm)
	must(t, f.deliver(t))
	if log := f.log(t, hook); log[0].Status != webhook.Succeeded {
		t.Errorf("%+v", log)
	}
}

func TestTheLeaseIsRenewedWhileAnEndpointIsSlow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	for n := range 30 {
		f.happen(t, fmt.Sprintf("c-%d", n))
	}
	other := f.another()
	f.answer = func(webhook.Message) webhook.Attempt {
		f.clock.advance(webhook.Timeout)
		must(t, other.deliver(t))
		return webhook.Attempt{At: f.clock.Now(), Status: 200}
	}
	must(t, f.deliver(t))
	var want []string
	for n := range 30 {
		want = append(want, fmt.Sprintf("c-%d", n))
	}
	if had := f.had(); !slices.Equal(had, want) {
		t.Errorf("sent were %q", had)
	}
	for _, delivery := range f.log(t, hook) {
		if delivery.Status != webhook.Succeeded || len(delivery.Attempts) != 1 {
			t.Errorf("%+v", delivery)
		}
	}
}

func TestAnAttemptThatIsBrokenOffByTheEndOfTheProcessIsMadeAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	stopped, stop := context.WithCancel(t.Context())
	f.hang = func(ctx context.Context) {
		stop()
		<-ctx.Done()
	}
	if _, err := f.service.Deliver(stopped); err != nil {
		t.Fatal(err)
	}
	f.service.Wait()
	if log := f.log(t, hook); len(log) != 0 {
		t.Errorf("%+v", log)
	}
	f.hang = nil
	must(t, f.deliver(t)) // at once: the queue was given back
	if log := f.log(t, hook); log[0].Status != webhook.Succeeded || len(log[0].Attempts) != 1 {
		t.Errorf("%+v", log)
	}
}

func TestWhatWaitsWhenItsCompanyIsRemovedIsSentAllTheSame(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.happen(t, "two")
	f.enqueue(t)
	f.remove(t)
	must(t, f.deliver(t))
	if had, log := f.had(), f.log(t, hook); !slices.Equal(had, []string{"one", "two"}) || len(log) != 1 {
		t.Errorf("%q, %+v", had, log)
	}
	f.finishRemovals(t)
	if left := f.left(t); left != 0 {
		t.Errorf("%d removed companies have left something", left)
	}
}

// However much was left, it is purged as soon as it was sent: only what still waits is checked seldom.
func TestAllThatARemovedCompanyLeftIsPurgedAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.subscribe(t)
	f.happen(t, "one")
	const count = 450
	f.updateOften(t, count)
	f.enqueue(t)
	f.remove(t)
	for len(f.had()) <= count {
		must(t, f.deliver(t))
	}
	f.finishRemovals(t)
	if left := f.left(t); left != 0 {
		t.Errorf("%d removed companies have left something", left)
	}
}

// A check of much that still waits leaves the store to others between its units, and stops when the process does.
func TestTheUnitsOfARemovalAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		hook := f.subscribe(t)
		f.happen(t, "one")
		f.updateOften(t, 450)
		f.enqueue(t)
		f.change(t, hook, webhook.Settings{Enabled: new(bool)}) // all of it waits
		f.remove(t)
		units := &units{Store: f.store}
		f.service = f.serviceOn(units)
		f.finishRemovals(t)
		if len(units.begun) != 3 || units.finished != 1 {
			t.Fatalf("%d units, %d looks for endpoints", len(units.begun), units.finished)
		}
		for n := range 2 {
			if apart := units.begun[n+1].Sub(units.begun[n]); apart < 10*time.Millisecond {
				t.Errorf("a unit began %s after the one before", apart)
			}
		}
		stopped, stop := context.WithCancel(t.Context())
		units.begun, units.after = nil, stop
		f.clock.advance(5 * time.Hour)
		if _, err := f.service.FinishRemovals(stopped); !errors.Is(err, context.Canceled) || len(units.begun) != 1 {
			t.Errorf("%v after %d units", err, len(units.begun))
		}
	})
}

func TestRetriesContinueWhenTheirCompanyIsRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.answer = func(message webhook.Message) webhook.Attempt {
		f.answer = ok
		f.remove(t)
		return webhook.Attempt{At: message.At, Status: 500}
	}
	must(t, f.deliver(t))
	f.finishRemovals(t)
	if left := f.left(t); left != 1 {
		t.Fatalf("%d removed companies have left something", left)
	}
	f.clock.advance(time.Minute)
	must(t, f.deliver(t))
	f.finishRemovals(t)
	if had, log, left := f.had(), f.log(t, hook), f.left(t); !slices.Equal(had, []string{"one", "one"}) || len(log) != 0 || left != 0 {
		t.Errorf("%q, %+v, %d", had, log, left)
	}
}

func TestADisabledEndpointKeepsWhatARemovedCompanyLeftForThirtyDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.enqueue(t)
	f.change(t, hook, webhook.Settings{Enabled: new(bool)})
	f.remove(t)
	f.clock.advance(webhook.LogRetention - 3*time.Hour)
	f.finishRemovals(t)
	if left := f.left(t); left != 1 {
		t.Fatalf("%d removed companies have left something", left)
	}
	f.clock.advance(3 * time.Hour)
	f.finishRemovals(t)
	if left := f.left(t); left != 0 {
		t.Errorf("%d removed companies have left something", left)
	}
}

func TestADeliveryWhoseEventIsMissingDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	lost := webhook.NewDelivery("dlv_lost", hook, event.Event{ID: "act_lost", Type: event.CompanyCreated}, f.clock.Now())
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error { return tx.Deliveries().Add(ctx, lost) }))
	f.answer = func(message webhook.Message) webhook.Attempt {
		f.answer = ok
		return webhook.Attempt{At: message.At, Status: 500}
	}
	f.happen(t, "one")
	must(t, f.deliver(t))
	f.clock.advance(time.Minute)
	must(t, f.deliver(t))
	got, err := f.store.Deliveries().Get(t.Context(), hook, lost.ID)
	must(t, err)
	if had := f.had(); got.Status != webhook.Failed || len(got.Attempts) != 0 || !slices.Equal(had, []string{"one", "one"}) {
		t.Errorf("%+v, %q", got, had)
	}
}

func TestWhatWaitsForASlowEndpointCostsNoRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happenOften(t, "some", 3000)
	f.enqueue(t)
	for want := 5; want <= 10; want += 5 {
		stopped, stop := context.WithCancel(t.Context())
		f.answer = func(message webhook.Message) webhook.Attempt {
			if len(f.had()) == want {
				stop()
			}
			return webhook.Attempt{At: message.At, Status: 200}
		}
		if _, err := f.service.Deliver(stopped); err != nil {
			t.Fatal(err)
		}
		f.service.Wait()
		if had, log := f.had(), f.log(t, hook); len(log) != want || had[len(had)-1] != fmt.Sprint("some-", want-1) {
			t.Errorf("%d deliveries, %q", len(log), had)
		}
	}
}

func TestAnEndpointThatWantsNothingOfALongLogKeepsItsPlaceInIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happenOften(t, "unwanted", 2000)
	f.enqueue(t)
	f.change(t, hook, webhook.Settings{Events: &[]string{"company.deleted"}})
	f.clock.tick = time.Second // time passes with every look at it: the lease would end many times
	must(t, f.deliver(t))
	f.clock.tick = 0
	if work, err := f.store.Outbox().Work(t.Context(), f.clock.Now()); work != (store.Work{}) || err != nil {
		t.Error("it is not at the end of the log", work, err)
	}
	if had, causes := f.had(), f.errors.all(); len(had) != 0 || len(causes) != 0 {
		t.Errorf("%q were sent, %q", had, causes)
	}
	f.change(t, hook, webhook.Settings{Events: &[]string{"*"}})
	f.happen(t, "wanted")
	must(t, f.deliver(t))
	if had := f.had(); !slices.Equal(had, []string{"wanted"}) {
		t.Errorf("sent were %q", had)
	}
}

func TestABacklogContinuesWhenItsEndpointIsEnabledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.latency = 1230 * time.Millisecond // long enough for the worker to look at the endpoint again
		hook := f.subscribe(t)
		others := f.subscribe(t) // so that events enter the outbox all the time
		f.change(t, others, webhook.Settings{Events: &[]string{"company.deleted"}})
		f.happenOften(t, "before", 30)
		f.answer = func(message webhook.Message) webhook.Attempt {
			if len(f.had()) == 3 {
				f.change(t, hook, webhook.Settings{Enabled: new(bool)})
			}
			return webhook.Attempt{At: message.At, Status: 200}
		}
		must(t, f.deliver(t))
		f.happenOften(t, "while", 30)
		must(t, f.deliver(t))
		f.happenOften(t, "while too", 1) // it is not enqueued yet
		if had := f.had(); len(had) != 3 {
			t.Fatalf("%q were sent to a disabled endpoint", had)
		}
		enabled := true
		f.change(t, hook, webhook.Settings{Enabled: &enabled})
		f.happenOften(t, "after", 2)
		must(t, f.deliver(t))
		var want []string
		for n := range 30 {
			want = append(want, fmt.Sprint("before-", n))
		}
		want = append(want, "after-0", "after-1")
		if had := f.had(); !slices.Equal(had, want) {
			t.Errorf("sent were %q", had)
		}
	})
}

func TestAnEndpointWantsWhatItWantsWhenTheAttemptIsMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.latency = 1230 * time.Millisecond // long enough for the worker to look at the endpoint again
		hook := f.subscribe(t)
		f.happenOften(t, "c", 10)
		f.answer = func(message webhook.Message) webhook.Attempt {
			if len(f.had()) == 4 {
				f.change(t, hook, webhook.Settings{Events: &[]string{"company.deleted"}})
			}
			return webhook.Attempt{At: message.At, Status: 200}
		}
		must(t, f.deliver(t))
		if had := f.had(); len(had) != 4 {
			t.Errorf("sent were %q", had)
		}
	})
}

func TestASecretThatCannotBeOpenedIsToldAndNothingIsSent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.vault.broken = errors.New("the key does not fit")
	must(t, f.deliver(t))
	if had, causes := f.had(), f.errors.all(); len(had) != 0 || len(causes) != 1 || !strings.Contains(causes[0], "does not fit") {
		t.Errorf("%q, %q", had, causes)
	}
	f.vault.broken = nil
	f.clock.advance(webhook.LeaseTerm)
	must(t, f.deliver(t))
	if log := f.log(t, hook); log[0].Status != webhook.Succeeded {
		t.Errorf("%+v", log)
	}
}

func TestAPanicOfAWorkerIsLogged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.answer = func(webhook.Message) webhook.Attempt { panic("out of order") }
	must(t, f.deliver(t))
	if causes := f.errors.all(); len(causes) != 1 || !strings.Contains(causes[0], "out of order") {
		t.Errorf("%q", causes)
	}
	f.answer = ok
	f.clock.advance(webhook.LeaseTerm)
	must(t, f.deliver(t))
	if log := f.log(t, hook); len(log) != 1 || log[0].Status != webhook.Succeeded {
		t.Errorf("%+v", log)
	}
}

func TestWhatFailedBeforeDoesNotHoldUpWhatIsNew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.subscribe(t)
	f.answer = func(message webhook.Message) webhook.Attempt { return webhook.Attempt{At: message.At, Status: 500} }
	for n := range 40 {
		f.happen(t, fmt.Sprintf("old-%d", n))
	}
	must(t, f.deliver(t))
	f.clock.advance(time.Minute)
	f.forget()
	f.answer = ok
	f.happen(t, "new")
	must(t, f.deliver(t))
	if had := f.had(); len(had) != 41 || slices.Index(had, "new") > 20 {
		t.Errorf("sent were %q", had)
	}
}

func TestThePurgeKeepsTheLogOfThirtyDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "old")
	must(t, f.deliver(t))
	f.clock.advance(time.Millisecond)
	f.happen(t, "young")
	must(t, f.deliver(t))
	f.clock.advance(webhook.LogRetention)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Deliveries().Purge(ctx, tx.Now().Add(-webhook.LogRetention), 10)
		return err
	}))
	if log := f.log(t, hook); len(log) != 1 || log[0].Company != companyOf("young") {
		t.Errorf("%+v", log)
	}
}

// fixture is the service on a real store, with a poster that does as the test says.
type fixture struct {
	service *deliveries.Service
	store   store.Store
	clock   *clock
	vault   *vault
	errors  *log

	parallel deliveries.Parallel
	checkIn  time.Duration
	*sent
}

// sent is what the workers of a test sent, and how it was answered.
type sent struct {
	mutex    sync.Mutex
	messages []string // the slugs in their bodies
	answer   func(message webhook.Message) webhook.Attempt
	hang     func(ctx context.Context)
	latency  time.Duration
}

func ok(message webhook.Message) webhook.Attempt { return webhook.Attempt{At: message.At, Status: 200} }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	f := &fixture{
		clock: &clock{now: time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)}, vault: &vault{}, errors: &log{},
		parallel: 1, sent: &sent{answer: ok},
	}
	f.store = sqlstore.New(engine, f.clock, system.IDs{}, engine.Migrator())
	f.service = f.serviceOn(f.store)
	return f
}

func (f *fixture) serviceOn(s store.Store) *deliveries.Service {
	return deliveries.New(s, f.sent, f.vault, f.clock, system.IDs{}, system.Entropy{}, f.errors, f.parallel)
}

// another is a second process on the same store.
func (f *fixture) another() *fixture {
	next := *f
	next.service = f.serviceOn(f.store)
	return &next
}

// deliver lets the service do all that there is to do now.
func (f *fixture) deliver(t *testing.T) error {
	t.Helper()
	for {
		more, err := f.service.Deliver(t.Context())
		f.service.Wait()
		if err != nil || !more {
			return err
		}
	}
}

// enqueue gives all events their positions, and sends none.
func (f *fixture) enqueue(t *testing.T) {
	t.Helper()
	f.vault.broken = errors.New("not yet")
	must(t, f.deliver(t))
	f.vault.broken = nil
	f.clock.advance(webhook.LeaseTerm)
	f.errors.forget()
}

func (f *fixture) subscribe(t *testing.T) id.Webhook {
	t.Helper()
	newID := id.New[id.Webhook](system.IDs{}.UUIDv7())
	url := "https://example.com"
	endpoint, created, err := webhook.New(newID, webhook.Draft{Settings: webhook.Settings{URL: &url, Events: &[]string{"company.*"}}},
		"sealed", nil, f.clock.Now())
	must(t, err)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.Webhooks().Add(ctx, endpoint); err != nil {
			return err
		}
		return tx.Record(ctx, created.By("system:test"))
	}))
	return newID
}

func companyOf(slug string) id.Company { return id.Company("cmp_" + slug) }

// change merges settings into an endpoint.
func (f *fixture) change(t *testing.T, which id.Webhook, settings webhook.Settings) {
	t.Helper()
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		endpoint, err := tx.Webhooks().Lock(ctx, which)
		if err != nil {
			return err
		}
		next, updated, err := endpoint.Apply(webhook.Patch{Settings: settings}, false, tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Webhooks().Save(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, updated.By("system:test"))
	}))
}

// happen makes a company, and records it.
func (f *fixture) happen(t *testing.T, slug string) {
	t.Helper()
	name := "Company"
	founding, created, err := company.New(companyOf(slug), company.Draft{Slug: &slug, Name: &name}, []string{"process"}, system.IDs{},
		f.clock.Now())
	must(t, err)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.Companies().Add(ctx, founding.Company); err != nil {
			return err
		}
		return tx.Record(ctx, created.By("system:test"))
	}))
}

// happenOften records count events of no company, each with a slug of its own.
func (f *fixture) happenOften(t *testing.T, slug string, count int) {
	t.Helper()
	f.recordOften(t, count, func(n int) event.Event {
		return event.Event{Type: event.CompanyCreated, Actor: "system:test", Data: event.Fields{event.F("slug", fmt.Sprint(slug, "-", n))}}
	})
}

// updateOften records count events of the company "one".
func (f *fixture) updateOften(t *testing.T, count int) {
	t.Helper()
	f.recordOften(t, count, func(int) event.Event {
		return event.Event{
			Company: companyOf("one"), Type: event.CompanyUpdated, Actor: "system:test",
			Subject: event.Subject{Type: "company", ID: string(companyOf("one"))}, Data: event.Fields{event.F("slug", "one")},
		}
	})
}

func (f *fixture) recordOften(t *testing.T, count int, nth func(n int) event.Event) {
	t.Helper()
	const perUnit = 100 // a unit may take only so long
	for first := 0; first < count; first += perUnit {
		must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			for n := first; n < min(first+perUnit, count); n++ {
				if err := tx.Record(ctx, nth(n)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// remove removes the company "one" with all that belongs to it.
func (f *fixture) remove(t *testing.T) {
	t.Helper()
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, _, err := tx.Companies().Empty(ctx, companyOf("one"), store.Emptying{Most: 100}); err != nil {
			return err
		}
		return tx.Companies().Remove(ctx, companyOf("one"))
	}))
}

// finishRemovals checks everything that removed companies have left, as if it were time for that.
func (f *fixture) finishRemovals(t *testing.T) {
	t.Helper()
	f.checkIn += 2 * time.Hour
	f.clock.advance(f.checkIn)
	for more := true; more; {
		var err error
		more, err = f.service.FinishRemovals(t.Context())
		must(t, err)
	}
	f.clock.advance(-f.checkIn)
}

// left is of how many removed companies something is left.
func (f *fixture) left(t *testing.T) int {
	t.Helper()
	removals, err := f.store.Removals().Due(t.Context(), f.clock.Now().Add(1000*time.Hour), 100)
	must(t, err)
	return len(removals)
}

func (f *fixture) log(t *testing.T, of id.Webhook) []webhook.Delivery {
	t.Helper()
	found, err := f.store.Deliveries().List(t.Context(), store.DeliveryFilter{Endpoint: of}, page.Position{}, page.MaxSize)
	must(t, err)
	return found.Items
}

// Post implements outbound.WebhookPoster.
func (s *sent) Post(ctx context.Context, message webhook.Message) webhook.Attempt {
	if s.hang != nil {
		s.hang(ctx)
		return webhook.Attempt{At: message.At, Error: "broken off"}
	}
	s.mutex.Lock()
	s.messages = append(s.messages, slugOf(message))
	s.mutex.Unlock()
	time.Sleep(s.latency)
	return s.answer(message)
}

func slugOf(message webhook.Message) string {
	_, rest, _ := strings.Cut(string(message.Body), `"slug":"`)
	slug, _, _ := strings.Cut(rest, `"`)
	return slug
}

func (s *sent) had() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.messages)
}

func (s *sent) forget() { s.messages = nil }

// stalling is a store at which a worker can be suspended when it looks what is to be sent.
type stalling struct {
	store.Store
	stall func()
}

func (s *stalling) Outbox() store.OutboxReader {
	s.stall()
	return s.Store.Outbox()
}

// units is a store that keeps when units began, and how often they looked for endpoints that are finished.
type units struct {
	store.Store
	begun    []time.Time
	finished int
	after    func()
}

func (u *units) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	if ctx.Err() == nil {
		u.begun = append(u.begun, time.Now())
	}
	if u.after != nil {
		defer u.after()
	}
	return u.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return write(ctx, unit{tx, u}) })
}

type unit struct {
	store.Tx
	units *units
}

func (u unit) Removals() store.Removals { return removals{u.Tx.Removals(), u.units} }

type removals struct {
	store.Removals
	units *units
}

func (r removals) Finished(ctx context.Context, which id.Company) ([]webhook.Endpoint, error) {
	r.units.finished++
	return r.Removals.Finished(ctx, which)
}

// clock stands still until it is moved, unless it ticks.
type clock struct {
	mutex sync.Mutex
	now   time.Time
	tick  time.Duration // by which it moves when it is looked at
}

func (c *clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(c.tick)
	return c.now
}

func (c *clock) advance(by time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(by)
}

// vault seals nothing.
type vault struct{ broken error }

func (v *vault) Unlock(fingerprint, _ string) (string, error)      { return fingerprint, nil }
func (v *vault) Seal(_, _, secret string) (string, error)          { return secret, nil }
func (v *vault) Open(_, sealed string) (string, error)             { return sealed, v.broken }
func (v *vault) Reseal(_, _ string, sealed string) (string, error) { return sealed, nil }

// log is an outbound.Log that keeps the causes of errors.
type log struct {
	mutex  sync.Mutex
	causes []string
}

func (l *log) Error(_ context.Context, _ string, cause error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.causes = append(l.causes, cause.Error())
}

func (l *log) all() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.causes)
}

func (l *log) forget() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.causes = nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
