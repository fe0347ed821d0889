package deliveries_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdco/adapters/system"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

func TestEventsAboutDifferentSubjectsAreSentInParallel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.parallel = 8
		f.service = f.serviceOn(f.store)
		f.subscribe(t)
		for n := range 40 {
			f.happen(t, fmt.Sprint("c-", n))
		}
		f.latency = time.Second
		began := time.Now()
		must(t, f.deliver(t))
		if took := time.Since(began); took < 5*time.Second || took >= 6*time.Second {
			t.Errorf("40 messages, 8 of them in flight, took %s", took)
		}
		if had := f.had(); len(had) != 40 {
			t.Errorf("sent were %q", had)
		}
	})
}

func TestEventsAboutOneSubjectAreSentInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.parallel = 8
		f.service = f.serviceOn(f.store)
		hook := f.subscribe(t)
		const subjects, each = 3, 10
		for n := range each {
			for subject := range subjects {
				f.record(t, fmt.Sprint("s-", subject), fmt.Sprint("s-", subject, "-", n))
			}
		}
		var mutex sync.Mutex
		busy := map[string]bool{}
		count := 0
		f.answer = func(message webhook.Message) webhook.Attempt {
			subject := slugOf(message)[:len("s-0")]
			mutex.Lock()
			if busy[subject] {
				t.Errorf("two messages about %s are in flight", subject)
			}
			busy[subject] = true
			count++
			failed := count%4 == 0 // what has failed does not hold up the next
			mutex.Unlock()
			time.Sleep(time.Second)
			mutex.Lock()
			defer mutex.Unlock()
			busy[subject] = false
			if failed {
				return webhook.Attempt{At: message.At, Status: 500}
			}
			return webhook.Attempt{At: message.At, Status: 200}
		}
		must(t, f.deliver(t))
		for subject := range subjects {
			prefix := fmt.Sprint("s-", subject, "-")
			own := slices.DeleteFunc(f.had(), func(slug string) bool { return !strings.HasPrefix(slug, prefix) })
			if len(own) != each || !slices.IsSorted(own) {
				t.Errorf("sent were %q", own)
			}
		}
		if log := f.log(t, hook); len(log) != subjects*each {
			t.Errorf("%d deliveries", len(log))
		}
	})
}

func TestWhatWasFinishedBeyondASlowMessageIsNotSentAgainAfterACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.parallel = 4
		f.service = f.serviceOn(f.store)
		hook := f.subscribe(t)
		for n := range 30 {
			f.happen(t, fmt.Sprint("c-", n))
		}
		release := make(chan struct{})
		f.answer = func(message webhook.Message) webhook.Attempt {
			if slug := slugOf(message); slug == "c-3" || slug == "c-11" {
				<-release
			}
			return webhook.Attempt{At: message.At, Status: 200}
		}
		_, err := f.service.Deliver(t.Context())
		must(t, err)
		// The others are recorded meanwhile. It ends between two instants at which the worker looks for more, and renews its lease.
		time.Sleep(1100 * time.Millisecond)
		if had, log := f.had(), f.log(t, hook); len(had) != 30 || len(log) != 28 {
			t.Fatalf("%d messages, %d deliveries", len(had), len(log))
		}

		f.forget()
		f.clock.advance(webhook.LeaseTerm + time.Millisecond) // each renewal ends at another instant
		next := f.another()
		next.sent = &sent{answer: ok}
		next.service = next.serviceOn(next.store)
		must(t, next.deliver(t))
		had := next.had()
		if slices.Sort(had); !slices.Equal(had, []string{"c-11", "c-3"}) {
			t.Errorf("sent again were %q", had)
		}
		close(release)
		f.service.Wait()
		if log := f.log(t, hook); len(log) != 30 {
			t.Errorf("%d deliveries", len(log))
		}
	})
}

func TestNewEventsAreSentWhileAMessageIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.parallel = 4
		f.service = f.serviceOn(f.store)
		f.subscribe(t)
		f.happen(t, "slow")
		release := make(chan struct{})
		f.answer = func(message webhook.Message) webhook.Attempt {
			if slugOf(message) == "slow" {
				<-release
			}
			return webhook.Attempt{At: message.At, Status: 200}
		}
		for _, slug := range []string{"", "new"} {
			if slug != "" {
				f.happen(t, slug)
			}
			_, err := f.service.Deliver(t.Context())
			must(t, err)
			time.Sleep(time.Second)
		}
		if had := f.had(); !slices.Equal(had, []string{"slow", "new"}) {
			t.Errorf("sent were %q", had)
		}
		close(release)
		f.service.Wait()
	})
}

func TestAnEndpointThatAnswersGoneAmidParallelMessagesIsDisabledOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.parallel = 16
	f.service = f.serviceOn(f.store)
	hook := f.subscribe(t)
	for n := range 16 {
		f.happen(t, fmt.Sprint("c-", n))
	}
	f.answer = func(message webhook.Message) webhook.Attempt { return webhook.Attempt{At: message.At, Status: 410} }
	must(t, f.deliver(t))
	endpoint, err := f.store.Webhooks().Get(t.Context(), hook)
	must(t, err)
	if endpoint.Enabled || endpoint.DisabledReason != webhook.Gone || endpoint.Version != 2 {
		t.Errorf("%+v", endpoint)
	}
}

func TestAnEndpointOfARemovedCompanyIsDisabledAfterItsLastMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.happen(t, "one")
	f.happen(t, "other")
	which := companyOf("one")
	bound, deaf := f.subscribeTo(t, which, "company.*"), f.subscribeTo(t, which, "company.archived")
	f.answer = func(message webhook.Message) webhook.Attempt { return webhook.Attempt{At: message.At, Status: 500} }
	f.remove(t)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Record(ctx, company.Company{ID: which, Slug: "one", DeletedBy: "system:test"}.Deleted())
	}))
	f.finishRemovals(t)
	f.enabled(t, true, bound, deaf) // company.deleted has no position yet
	must(t, f.deliver(t))
	f.finishRemovals(t)
	f.enabled(t, true, bound) // its last message has failed once
	f.enabled(t, false, deaf)
	f.answer = ok
	f.clock.advance(time.Minute)
	must(t, f.deliver(t))
	f.finishRemovals(t)
	f.enabled(t, false, bound)
	if had := f.had(); !slices.Equal(had, []string{"one", "one"}) {
		t.Errorf("sent were %q", had)
	}
}

// enabled checks whether endpoints are enabled, and why not.
func (f *fixture) enabled(t *testing.T, want bool, endpoints ...id.Webhook) {
	t.Helper()
	for _, which := range endpoints {
		endpoint, err := f.store.Webhooks().Get(t.Context(), which)
		must(t, err)
		if endpoint.Enabled != want || !want && endpoint.DisabledReason != webhook.CompanyDeleted {
			t.Errorf("%+v", endpoint)
		}
	}
}

// subscribeTo adds an endpoint that wants some events of one company.
func (f *fixture) subscribeTo(t *testing.T, which id.Company, events string) id.Webhook {
	t.Helper()
	newID, url := id.New[id.Webhook](system.IDs{}.UUIDv7()), "https://example.com"
	draft := webhook.Draft{Settings: webhook.Settings{URL: &url, Events: &[]string{events}}}
	endpoint, created, err := webhook.New(newID, draft, "sealed", nil, f.clock.Now())
	must(t, err)
	endpoint.Company = which
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.Webhooks().Add(ctx, endpoint); err != nil {
			return err
		}
		return tx.Record(ctx, created.By("system:test"))
	}))
	return newID
}

// record records an event about a subject.
func (f *fixture) record(t *testing.T, subject, slug string) {
	t.Helper()
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Record(ctx, event.Event{
			Type: event.CompanyUpdated, Actor: "system:test", Subject: event.Subject{Type: "company", ID: subject},
			Data: event.Fields{event.F("slug", slug)},
		})
	}))
}

// What was recorded before an endpoint was disabled waits for it, even if nobody has enqueued it yet.
func TestWhatIsRecordedJustBeforeAnEndpointIsGivenUpWaitsForIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hook := f.subscribe(t)
	f.happen(t, "one")
	f.answer = func(message webhook.Message) webhook.Attempt { return webhook.Attempt{At: message.At, Status: 500} }
	must(t, f.deliver(t))
	f.clock.advance(time.Minute)
	f.answer = func(message webhook.Message) webhook.Attempt {
		f.happen(t, "two")
		return webhook.Attempt{At: message.At, Status: 410}
	}
	must(t, f.deliver(t))
	f.answer = ok
	enabled := true
	f.change(t, hook, webhook.Settings{Enabled: &enabled})
	must(t, f.deliver(t))
	if had := f.had(); !slices.Equal(had, []string{"one", "one", "two"}) {
		t.Errorf("sent were %q", had)
	}
}
