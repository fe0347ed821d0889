package activity_test

import (
	"context"
	"slices"
	"testing"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/activity"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/issues"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// What depends on when a stream takes is tested here; everything else of streams is tested through the API, on both stores.

func TestAStreamThatTakesLateGetsAllInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	late := f.follow(t, f.service, "")
	for range 5 { // the first portion is being taken, others wait
		f.file(t, 10)
	}
	if got := late.take(t, 50); !slices.Equal(subjects(got), f.filed) {
		t.Errorf("the stream has %v, not %v", subjects(got), f.filed)
	}
}

func TestAStreamThatDoesNotTakeIsCutOffAndCanGoOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	slow := f.follow(t, f.service, "")
	for range 12 {
		f.file(t, 100) // 1,000 may wait
	}
	got := slow.rest()
	if len(got) >= len(f.filed) {
		t.Fatalf("a stream that took nothing got all %d entries", len(got))
	}
	again := f.follow(t, f.service, got[len(got)-1].Place)
	got = append(got, again.take(t, len(f.filed)-len(got))...)
	if !slices.Equal(subjects(got), f.filed) {
		t.Errorf("the streams have %d entries, not each of %d in order", len(got), len(f.filed))
	}
}

// A client that comes from another server can be further than this one.
func TestAStreamCanBeginAfterWhatTheServerHasHandedOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	behind := f.follow(t, f.service, "")
	f.create(t, 3)
	ahead := f.follow(t, activity.New(f.store, nil), behind.begin).take(t, 3) // at another server: this one has handed on nothing
	stream := f.follow(t, f.service, ahead[1].Place)
	f.poll(t)
	if got := behind.take(t, 3); !slices.Equal(subjects(got), f.filed) {
		t.Errorf("the stream that was there has %v, not %v", subjects(got), f.filed)
	}
	if got := stream.take(t, 1); got[0].Place != ahead[2].Place {
		t.Errorf("the stream that came begins with %s, not %s", got[0].Entry.ID, ahead[2].Entry.ID)
	}
}

type fixture struct {
	store   store.Store
	service *activity.Service
	issues  *issues.Service
	of      id.Company
	filed   []string // the ids of the issues
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	engine, ids := sqlitetest.Open(t), system.IDs{}
	kept := sqlstore.New(engine, system.Clock{}, ids, engine.Migrator())
	settings := companies.Settings{Adapters: []string{"process"}}
	founding, err := companies.New(kept, noWorkspaces{}, ids, noLog{}, settings, &cache.Cache[agent.Credential]{}).Create(
		t.Context(), caller, company.Draft{Name: new("Acme"), Slug: new("acme")}, idempotency.Request{})
	must(t, err)
	return &fixture{store: kept, service: activity.New(kept, nil), issues: issues.New(kept, ids, nil), of: founding.Company.ID}
}

var caller = access.System("test")

// file files so many issues, and hands them on together.
func (f *fixture) file(t *testing.T, count int) {
	t.Helper()
	f.create(t, count)
	f.poll(t)
}

func (f *fixture) create(t *testing.T, count int) {
	t.Helper()
	for range count {
		made, err := f.issues.Create(t.Context(), caller, f.of, issue.Draft{Title: new("Write")}, idempotency.Request{})
		must(t, err)
		f.filed = append(f.filed, string(made.ID))
	}
}

func (f *fixture) poll(t *testing.T) {
	t.Helper()
	_, err := f.service.Poll(t.Context())
	must(t, err)
}

// stream is one that is followed. It takes when the test does.
type stream struct {
	taken chan []inbound.StreamedEntry // closed when the stream has ended
	begin string                       // its place
}

// follow begins a stream after a place; "": at the end of the log.
func (f *fixture) follow(t *testing.T, at *activity.Service, place string) *stream {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	follow, err := at.Follow(ctx, caller, f.of, place)
	must(t, err)
	s := &stream{taken: make(chan []inbound.StreamedEntry), begin: place}
	go func() {
		defer close(s.taken)
		_ = follow(ctx, func(portions []inbound.StreamedPortion) error {
			var all []inbound.StreamedEntry
			for _, one := range portions {
				all = append(all, one.Entries...)
			}
			if len(all) == 0 {
				return nil
			}
			select {
			case s.taken <- all:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	if place == "" {
		s.begin = (<-s.taken)[0].Place
	}
	return s
}

// take takes so many entries.
func (s *stream) take(t *testing.T, count int) (got []inbound.StreamedEntry) {
	t.Helper()
	for len(got) < count {
		some, ok := <-s.taken
		if !ok {
			t.Fatalf("the stream has ended after %d entries, not %d", len(got), count)
		}
		got = append(got, some...)
	}
	return got
}

// rest takes what there is until the stream ends.
func (s *stream) rest() (got []inbound.StreamedEntry) {
	for some := range s.taken {
		got = append(got, some...)
	}
	return got
}

// subjects are the ids of what entries tell of.
func subjects(of []inbound.StreamedEntry) []string {
	found := make([]string, len(of))
	for n, one := range of {
		found[n] = one.Entry.Subject.ID
	}
	return found
}

// noWorkspaces is an outbound.Workspaces without a disk.
type noWorkspaces struct{}

func (noWorkspaces) Make(id.Company) error       { return nil }
func (noWorkspaces) Remove(id.Company) error     { return nil }
func (noWorkspaces) List() ([]id.Company, error) { return nil, nil }

// noLog is an outbound.Log that keeps nothing.
type noLog struct{}

func (noLog) Error(context.Context, string, error) {}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
