package storetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/ports/store"
)

var unitRules = []rule{
	{"a fresh store is ready", isReady},
	{"a unit that fails leaves nothing, and its error comes out as it is", failureLeavesNothing},
	{"a unit that panics leaves nothing, and goes on panicking", panicLeavesNothing},
	{"a unit whose goroutine ends leaves nothing", exitLeavesNothing},
	{"a change without an event does not commit", unrecordedChange},
	{"a change that says it needs no event commits", unrecordedOnPurpose},
	{"bookkeeping needs no event", bookkeeping},
	{"a unit reads what it wrote", readsOwnWrites},
	{"nobody else reads it before it commits", hiddenUntilCommit},
	{"now is one instant", nowIsOneInstant},
	{"a view is one snapshot, from its beginning on", viewIsSnapshot},
	{"the error of a view comes out as it is", viewFails},
	{"a canceled context gives its error and has no effect", canceled},
}

func isReady(f *fixture) { f.ok(f.store.Ready(f.ctx)) }

// changingAll is a unit that writes to every table.
func changingAll(f *fixture) (unit, company.Company) {
	c, token := f.newCompany("acme"), f.newToken("admin")
	teams, slots := f.newTeams(c.ID, 2)
	receipt := idempotency.Receipt{
		Key: idempotency.Key{Token: token.ID, Value: "key"}, Fingerprint: "f", Answer: []byte("{}"), CreatedAt: f.clock.Now(),
	}
	steps := []unit{adding(c), staffing(teams, slots), issuing(token), keeping(receipt)}
	return func(ctx context.Context, tx store.Tx) error {
		for _, step := range steps {
			if err := step(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}, c
}

// nothingOf fails if anything of what changingAll wrote is there, or if it cannot be written.
func (f *fixture) nothingOf(write unit, c company.Company) {
	f.Helper()
	_, err := f.store.Companies().Get(f.ctx, c.ID)
	f.code(err, fault.NotFound)
	f.hasTeams(c.ID, nil, nil)
	f.tokensAre(0)
	f.recorded(nil)
	f.update(write)
	f.looksLike(c)
	f.tokensAre(1)
	f.recorded([]event.Type{event.CompanyCreated})
}

func failureLeavesNothing(f *fixture) {
	write, c := changingAll(f)
	for _, failure := range []error{errGivenUp, fault.New(fault.InvalidTransition, "No such move.")} {
		err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if err := write(ctx, tx); err != nil {
				return err
			}
			return failure
		})
		if !errors.Is(err, failure) {
			f.Fatalf("%v, want %v", err, failure)
		}
	}
	f.nothingOf(write, c)
}

// panics runs what must panic, and returns with what.
func (f *fixture) panics(run func()) (value any) {
	f.Helper()
	defer func() {
		if value = recover(); value == nil {
			f.Fatal("no panic")
		}
	}()
	run()
	return nil
}

func panicLeavesNothing(f *fixture) {
	write, c := changingAll(f)
	value := f.panics(func() {
		_ = f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if err := write(ctx, tx); err != nil {
				return err
			}
			panic("in a unit")
		})
	})
	f.same(value, "in a unit")
	value = f.panics(func() {
		_ = f.store.View(f.ctx, func(context.Context, store.Reader) error { panic("in a view") })
	})
	f.same(value, "in a view")
	f.nothingOf(write, c)
}

func exitLeavesNothing(f *fixture) {
	write, c := changingAll(f)
	var ended sync.WaitGroup
	ended.Go(func() {
		_ = f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if err := write(ctx, tx); err != nil {
				return err
			}
			runtime.Goexit()
			return nil
		})
	})
	ended.Go(func() {
		_ = f.store.View(f.ctx, func(context.Context, store.Reader) error { runtime.Goexit(); return nil })
	})
	ended.Wait()
	f.nothingOf(write, c)
}

// silentChanges are all the ways to change business rows, each on a store that holds acme with a team, and a token.
func silentChanges(f *fixture) map[string]unit {
	acme, token := f.found("acme"), f.issue("read")
	f.staff(acme.ID, 1)
	renamed := acme
	renamed.Name, renamed.Version = "New", acme.Version+1
	teams, slots := f.newTeams(acme.ID, 1)
	leaving := f.found("leaving")
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		_, err := tx.Companies().Empty(ctx, leaving.ID, 100)
		return err
	})
	newcomer, newToken := f.newCompany("new"), f.newToken("read")
	return map[string]unit{
		"Companies.Add": func(ctx context.Context, tx store.Tx) error { return tx.Companies().Add(ctx, newcomer) },
		"Companies.Save": func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.Companies().Lock(ctx, acme.ID); err != nil {
				return err
			}
			return tx.Companies().Save(ctx, renamed)
		},
		"Companies.Empty": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Companies().Empty(ctx, acme.ID, 1)
			return err
		},
		"Companies.Remove": func(ctx context.Context, tx store.Tx) error { return tx.Companies().Remove(ctx, leaving.ID) },
		"Teams.Add":        func(ctx context.Context, tx store.Tx) error { return tx.Teams().Add(ctx, teams, slots) },
		"Tokens.Add":       func(ctx context.Context, tx store.Tx) error { return tx.Tokens().Add(ctx, newToken) },
		"Tokens.Save": func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.Tokens().Lock(ctx, token.ID); err != nil {
				return err
			}
			token.Name = "New"
			return tx.Tokens().Save(ctx, token)
		},
	}
}

func unrecordedChange(f *fixture) {
	for name, change := range silentChanges(f) {
		before := f.everything()
		err := f.store.Update(f.ctx, change)
		if fault.CodeOf(err) != fault.Internal {
			f.Errorf("%s without an event: %v", name, err)
		}
		f.same(f.everything(), before)
	}
}

// everything is all that can be read, for comparison.
func (f *fixture) everything() []any {
	f.Helper()
	companies, err := f.store.Companies().List(f.ctx, store.CompanyFilter{}, page.Position{}, page.MaxSize)
	f.ok(err)
	activity, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, page.MaxSize)
	f.ok(err)
	all := []any{companies, f.allTokens(), activity}
	for _, c := range companies.Items {
		teams, err := f.store.Teams().OfCompany(f.ctx, c.ID)
		f.ok(err)
		slots, err := f.store.Teams().SlotsOfCompany(f.ctx, c.ID)
		f.ok(err)
		all = append(all, teams, slots)
	}
	return all
}

func unrecordedOnPurpose(f *fixture) {
	for name, change := range silentChanges(f) {
		if err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return change(ctx, tx)
		}); err != nil {
			f.Errorf("%s: %v", name, err)
		}
	}
}

func bookkeeping(f *fixture) {
	token := f.issue("read")
	f.update(touching(map[id.Token]time.Time{token.ID: f.clock.Now()}))
	f.update(keeping(idempotency.Receipt{
		Key: idempotency.Key{Token: token.ID, Value: "key"}, Fingerprint: "f", Answer: []byte("{}"), CreatedAt: f.clock.Now(),
	}))
	f.update(func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Receipts().Purge(ctx, f.clock.Now().Add(time.Hour), 10)
		return err
	})
	f.update(func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Tokens().Lock(ctx, token.ID)
		return err
	})
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Tokens().LockAll(ctx) })
	f.update(func(context.Context, store.Tx) error { return nil })
}

func readsOwnWrites(f *fixture) {
	write, c := changingAll(f)
	f.update(func(ctx context.Context, tx store.Tx) error {
		if err := write(ctx, tx); err != nil {
			return err
		}
		byID, err := tx.Companies().Get(ctx, c.ID)
		f.ok(err)
		f.same(byID, c)
		bySlug, err := tx.Companies().BySlug(ctx, c.Slug)
		f.ok(err)
		f.same(bySlug, c)
		companies, err := tx.Companies().List(ctx, store.CompanyFilter{}, page.Position{}, 10)
		f.ok(err)
		f.same(len(companies.Items), 1)
		teams, err := tx.Teams().OfCompany(ctx, c.ID)
		f.ok(err)
		f.same(len(teams), 1)
		slots, err := tx.Teams().SlotsOfCompany(ctx, c.ID)
		f.ok(err)
		f.same(len(slots), 2)
		tokens, err := tx.Tokens().List(ctx, page.Position{}, 10)
		f.ok(err)
		f.same(len(tokens.Items), 1)
		byHash, err := tx.Tokens().ByHash(ctx, tokens.Items[0].Hash)
		f.ok(err)
		f.same(byHash, tokens.Items[0])
		admin, err := tx.Tokens().HasLiveAdmin(ctx, tx.Now())
		f.ok(err)
		f.same(admin, true)
		activity, err := tx.Activity().List(ctx, store.ActivityFilter{Company: &c.ID}, page.Position{}, 10)
		f.ok(err)
		f.same(len(activity.Items), 1)
		kept, err := tx.Receipts().Claim(ctx, idempotency.Key{Token: tokens.Items[0].ID, Value: "key"})
		f.ok(err)
		f.same(string(kept.Answer), "{}")
		return nil
	})
}

func hiddenUntilCommit(f *fixture) {
	before := f.everything()
	write, _ := changingAll(f)
	f.update(func(ctx context.Context, tx store.Tx) error {
		if err := write(ctx, tx); err != nil {
			return err
		}
		var elsewhere sync.WaitGroup
		elsewhere.Go(func() { f.same(f.everything(), before) })
		elsewhere.Wait()
		return nil
	})
}

func nowIsOneInstant(f *fixture) {
	var first time.Time
	f.update(func(ctx context.Context, tx store.Tx) error {
		first = tx.Now()
		f.clock.Advance(time.Minute)
		f.same(tx.Now(), first)
		return tx.Record(ctx, founded(f.newCompany("acme")))
	})
	got, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, 1)
	f.ok(err)
	f.same(got.Items[0].At, first)
	f.update(func(_ context.Context, tx store.Tx) error {
		f.same(tx.Now(), first.Add(time.Minute))
		return nil
	})
}

func viewIsSnapshot(f *fixture) {
	acme := f.found("acme")
	f.staff(acme.ID, 1)
	f.issue("admin")
	commits := func() {
		var elsewhere sync.WaitGroup
		elsewhere.Go(func() {
			f.update(moving(acme.ID, rename(string(id.New[id.Slot](f.ids.UUIDv7())))))
			f.staff(acme.ID, 1)
			f.issue("read")
		})
		elsewhere.Wait()
	}
	type look struct {
		name                                 string
		version                              int64
		listed, teams, slots, events, tokens int
	}
	looks := func(ctx context.Context, r store.Reader) look {
		c, err := r.Companies().Get(ctx, acme.ID)
		f.ok(err)
		listed, err := r.Companies().List(ctx, store.CompanyFilter{}, page.Position{}, 10)
		f.ok(err)
		teams, err := r.Teams().OfCompany(ctx, acme.ID)
		f.ok(err)
		slots, err := r.Teams().SlotsOfCompany(ctx, acme.ID)
		f.ok(err)
		events, err := r.Activity().List(ctx, store.ActivityFilter{}, page.Position{}, 10)
		f.ok(err)
		tokens, err := r.Tokens().List(ctx, page.Position{}, 10)
		f.ok(err)
		return look{c.Name, c.Version, len(listed.Items), len(teams), len(slots), len(events.Items), len(tokens.Items)}
	}
	before := looks(f.ctx, f.store)
	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		for range 3 {
			commits()
			if got := looks(ctx, r); got != before {
				f.Fatalf("a view that began at %+v shows %+v", before, got)
			}
		}
		return nil
	}))
	f.same(looks(f.ctx, f.store).version, before.version+3)
}

func viewFails(f *fixture) {
	for _, failure := range []error{errGivenUp, fault.New(fault.NotFound, "No such thing.")} {
		err := f.store.View(f.ctx, func(context.Context, store.Reader) error { return failure })
		if !errors.Is(err, failure) {
			f.Fatalf("%v, want %v", err, failure)
		}
	}
}

func canceled(f *fixture) {
	acme := f.found("acme")
	gone, cancel := context.WithCancel(f.ctx)
	cancel()
	never := func(context.Context, store.Tx) error { f.Error("the unit ran"); return nil }
	_, getting := f.store.Companies().Get(gone, acme.ID)
	_, listing := f.store.Activity().List(gone, store.ActivityFilter{}, page.Position{}, 1)
	viewing := f.store.View(gone, func(ctx context.Context, r store.Reader) error {
		_, err := r.Companies().Get(ctx, acme.ID)
		return err
	})
	for what, err := range map[string]error{
		"Update": f.store.Update(gone, never), "Ready": f.store.Ready(gone), "Get": getting, "List": listing, "View": viewing,
	} {
		if !errors.Is(err, context.Canceled) {
			f.Errorf("%s: %v", what, err)
		}
	}

	write := moving(acme.ID, rename("New"))
	within, cancel := context.WithCancel(f.ctx)
	err := f.store.Update(within, func(ctx context.Context, tx store.Tx) error {
		if err := write(ctx, tx); err != nil {
			return err
		}
		cancel()
		_, err := tx.Companies().Get(ctx, acme.ID)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		f.Errorf("canceled within a unit: %v", err)
	}
	f.looksLike(acme)
	f.update(write)
}
