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
	{"now is one instant", nowIsOneInstant},
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
	endpoint := f.newEndpoint()
	d := f.newDelivery(endpoint.ID)
	bind := func(ctx context.Context, tx store.Tx) error { return tx.Key().Bind(ctx, "fingerprint") }
	steps := []unit{
		connecting(endpoint), adding(c), staffing(teams, slots), issuing(token), keeping(receipt), sending(d), bind,
	}
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
	f.idleAre()
	f.waits(false)
	f.keyIs("")
	f.update(write)
	f.looksLike(c)
	f.tokensAre(1)
	f.recorded([]event.Type{event.CompanyCreated})
	f.waits(true)
	f.keyIs("fingerprint")
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
	endpoint, leavingEndpoint, newEndpoint := f.endpoint(), f.endpoint(), f.newEndpoint()
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
		"Webhooks.Add": func(ctx context.Context, tx store.Tx) error { return tx.Webhooks().Add(ctx, newEndpoint) },
		"Webhooks.Save": func(ctx context.Context, tx store.Tx) error {
			locked, err := tx.Webhooks().Lock(ctx, endpoint.ID)
			if err != nil {
				return err
			}
			locked.Description, locked.Version = "New", locked.Version+1
			return tx.Webhooks().Save(ctx, locked)
		},
		"Webhooks.Remove": func(ctx context.Context, tx store.Tx) error { return tx.Webhooks().Remove(ctx, leavingEndpoint.ID) },
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
	endpoints := walk(f, page.MaxSize, f.endpointPages(page.MaxSize))
	backlog, err := f.store.Outbox().Backlog(f.ctx)
	f.ok(err)
	all := []any{companies, f.allTokens(), activity, endpoints, backlog}
	for _, endpoint := range endpoints {
		all = append(all, walk(f, page.MaxSize, f.deliveryPages(endpoint.ID, page.MaxSize)))
	}
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
	endpoint := f.endpoint().ID
	f.saveDelivery(f.send(endpoint))
	f.claim("lease", 1)
	f.update(func(ctx context.Context, tx store.Tx) error {
		queue, err := tx.Outbox().Leased(ctx, endpoint, "lease")
		if err != nil {
			return err
		}
		return tx.Outbox().Save(ctx, queue)
	})
	f.release(endpoint, "lease")
	f.same(f.purgeDeliveries(f.clock.Now().Add(time.Hour), 10), 1)
	f.update(recording(founded(f.newCompany("acme"))))
	f.same(len(f.place(10)), 1)
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Key().Bind(ctx, "fingerprint") })
	f.update(func(context.Context, store.Tx) error { return nil })
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
