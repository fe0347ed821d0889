package export_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/export"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/domain/partner"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// answered is what a reader of the feed was told, and after how long.
type answered struct {
	page inbound.ChangesPage
	err  error
	took time.Duration
}

// waiting asks for changes after a position, in the background.
func (f *fixture) waiting(ctx context.Context, after lead.FeedPosition, wait time.Duration) <-chan answered {
	return waitingFor(ctx, f.service, after, wait)
}

func waitingFor(ctx context.Context, of inbound.Export, after lead.FeedPosition, wait time.Duration) <-chan answered {
	done := make(chan answered, 1)
	go func() {
		began := time.Now()
		page, err := of.Changes(ctx, lead.FeedQuery{After: after, Size: 10}, wait)
		done <- answered{page, err, time.Since(began)}
	}()
	return done
}

func TestWhoWaitsForChangesIsToldAsTheyCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.name(t, "Health")
		f.keep(t, 1)
		began := <-f.waiting(t.Context(), lead.FeedPosition{}, time.Minute)
		if len(began.page.Changes) != 2 || began.took != 0 {
			t.Fatalf("%+v", began)
		}
		at := began.page.Next

		all := make([]<-chan answered, 20)
		for n := range all {
			all[n] = f.waiting(t.Context(), at, 30*time.Second)
		}
		time.Sleep(5 * time.Second)
		f.name(t, "Health") // a revision that tells nothing
		time.Sleep(5 * time.Second)
		f.keep(t, 2)
		for _, one := range all {
			got := <-one
			if got.err != nil || len(got.page.Changes) != 1 || got.page.Changes[0].Lead != leadID(2) ||
				got.took < 10*time.Second || got.took > 11*time.Second {
				t.Errorf("%+v", got)
			}
			at = got.page.Next
		}

		if got := <-f.waiting(t.Context(), at, 30*time.Second); got.err != nil || len(got.page.Changes) > 0 || got.page.More ||
			got.page.Next != at || got.took != 30*time.Second {
			t.Errorf("nothing came: %+v", got)
		}
		ctx, stop := context.WithCancel(t.Context())
		stopped := f.waiting(ctx, at, 30*time.Second)
		time.Sleep(time.Second)
		stop()
		if got := <-stopped; got.err != nil || got.page.Next != at || got.took != time.Second {
			t.Errorf("it was stopped: %+v", got)
		}
	})
}

func TestNobodyWaitsForChangesAtAServerThatStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.keep(t, 1)
		one := lead.Sampled{Lead: lead.Lead{ID: "cmp_a", Name: "A", CreatedAt: f.clock.now, UpdatedAt: f.clock.now}}
		keys := export.NewKeys(f.service, func() *lead.Sample { return lead.NewSample(lead.Taxonomy{}, nil, []lead.Sampled{one}) }, f.clock)
		stopped := map[inbound.Export]<-chan answered{}
		for _, of := range []inbound.Export{keys.Of(partner.Partner{}), keys.Of(partner.Partner{Test: true})} {
			began := <-waitingFor(t.Context(), of, lead.FeedPosition{}, time.Minute)
			stopped[of] = waitingFor(t.Context(), of, began.page.Next, 30*time.Second)
		}
		time.Sleep(time.Second)
		keys.Close()
		for of, done := range stopped {
			got := <-done
			if got.err != nil || len(got.page.Changes) > 0 || got.took != time.Second {
				t.Errorf("%+v", got)
			}
			if again := <-waitingFor(t.Context(), of, got.page.Next, 30*time.Second); again.err != nil || again.took != 0 {
				t.Errorf("%+v", again)
			}
		}
	})
}

func TestTheStreamOfChangesEndsWithThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.name(t, "Health")
	numbers := make([]int, 2000)
	for i := range numbers {
		numbers[i] = i + 1
	}
	f.keep(t, numbers...)
	var pages, changes int
	var last lead.FeedPosition
	take := func(page inbound.ChangesPage) error {
		pages, changes, last = pages+1, changes+len(page.Changes), page.Next
		return nil
	}
	must(t, f.service.StreamChanges(t.Context(), lead.FeedQuery{}, 0, take))
	if pages != 3 || changes != 2001 {
		t.Errorf("%d changes in %d pages", changes, pages)
	}
	must(t, f.service.StreamChanges(t.Context(), lead.FeedQuery{After: last}, 0, take))
	if pages != 4 || changes != 2001 {
		t.Errorf("%d changes in %d pages", changes, pages)
	}
	enough := errors.New("enough")
	err := f.service.StreamChanges(t.Context(), lead.FeedQuery{}, 0, func(inbound.ChangesPage) error { return enough })
	if !errors.Is(err, enough) {
		t.Error(err)
	}
}

func TestAFeedThatDoesNotGoOnIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.keep(t, 1, 2)
	page, err := f.service.Changes(t.Context(), lead.FeedQuery{Size: 10}, 0)
	must(t, err)
	f.clock.now = f.clock.now.Add(time.Minute)
	f.keep(t, 3)
	lost, err := f.service.Changes(t.Context(), lead.FeedQuery{After: page.Next, Size: 10}, 0)
	must(t, err)
	lost.Next.SeenAt = lost.Next.SeenAt.Add(time.Minute) // as if the backup were of before that
	f.clock.now = f.clock.now.Add(time.Hour)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Leads().Restored(ctx)
	}))
	_, err = f.service.Changes(t.Context(), lead.FeedQuery{After: lost.Next, Size: 10}, time.Minute)
	if fault.CodeOf(err) != fault.InvalidCursor {
		t.Error(err)
	}
	_, err = f.service.Changes(t.Context(), lead.FeedQuery{After: page.Next, Size: 10}, time.Minute)
	must(t, err)

	f.remove(t, 1)
	f.clock.now = f.clock.now.Add(time.Hour)
	f.keep(t, 4)
	old, err := f.store.Retention().RemovedLeads(t.Context(), f.clock.now, store.OldLead{}, 10)
	must(t, err)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Retention().RemoveLeads(ctx, old)
	}))
	_, err = f.service.ChangesSince(t.Context(), f.clock.now.Add(-3*time.Hour))
	if refused := fault.Of(err); refused == nil || refused.Code != fault.InvalidParameter || len(old) != 1 {
		t.Errorf("%v; %d were pruned", err, len(old))
	}
	_, err = f.service.ChangesSince(t.Context(), f.clock.now)
	must(t, err)
}

func TestTheFeedOfASampleEndsWithAnotherSample(t *testing.T) {
	t.Parallel()
	sampled := func(at time.Time) *export.Service {
		one := lead.Sampled{Lead: lead.Lead{ID: "cmp_a", Name: "A", CreatedAt: at, UpdatedAt: at}}
		return export.NewSampled(lead.NewSample(lead.Taxonomy{}, nil, []lead.Sampled{one}), &clock{at})
	}
	at := time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)
	first, other := sampled(at), sampled(at.Add(time.Hour))
	page, err := first.Changes(t.Context(), lead.FeedQuery{Size: 5}, 0)
	if err != nil || len(page.Changes) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if _, err := first.Changes(t.Context(), lead.FeedQuery{After: page.Next, Size: 5}, 0); err != nil {
		t.Error(err)
	}
	_, err = other.Changes(t.Context(), lead.FeedQuery{After: page.Next, Size: 5}, 0)
	if fault.CodeOf(err) != fault.InvalidCursor || fault.CodeOf(other.CanFollow(t.Context(), page.Next)) != fault.InvalidCursor {
		t.Errorf("%v", err)
	}
}
