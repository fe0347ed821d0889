package storetest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/domain/retention"
	"holdco/ports/store"
)

var unitRules = []rule{
	{"a fresh store is ready", isReady},
	{"a unit that fails leaves nothing, and its error comes out as it is", failureLeavesNothing},
	{"a unit that panics is rolled back, and the panic continues", panicLeavesNothing},
	{"a unit whose goroutine ends leaves nothing", exitLeavesNothing},
	{"now is one instant", nowIsOneInstant},
	{"a canceled context gives its error and has no effect", canceled},
}

func isReady(f *fixture) { f.ok(f.store.Ready(f.ctx)) }

// changingAll is a unit that writes to every table of companies and webhooks.
func changingAll(f *fixture) (unit, company.Company) {
	c, token := f.newCompany("acme"), f.newToken("admin")
	receipt := idempotency.Receipt{
		Key: idempotency.Key{Caller: string(token.ID), Value: "key"}, Fingerprint: "f", Answer: []byte("{}"), CreatedAt: f.clock.Now(),
	}
	endpoint := f.newEndpoint()
	d := f.newDelivery(endpoint.ID)
	bind := func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().Bind(ctx, "fingerprint") }
	steps := []unit{connecting(endpoint), adding(c), issuing(token), keeping(receipt), sending(d), bind}
	for _, some := range ofCompanies {
		steps = append(steps, some(f, c.ID))
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

// writingEverywhere is a unit that writes to every table of a new store.
func writingEverywhere(f *fixture) unit {
	all, _ := changingAll(f)
	f.imports(leadCalled("former")) // the instant of a change of leads is noted with the next one
	leaving := f.newCompany("leaving")
	stub := f.newStub("")
	imported, campaign, taxonomy := leadCalled("new"), f.newCampaign("new"), f.newTaxonomy()
	suppressing := someSuppression(f)
	var others []unit
	for _, some := range ofTheInstance {
		others = append(others, some(f))
	}
	return func(ctx context.Context, tx store.Tx) error {
		if err := all(ctx, tx); err != nil {
			return err
		}
		if err := adding(leaving)(ctx, tx); err != nil {
			return err
		}
		if err := removing(leaving.ID)(ctx, tx); err != nil {
			return err
		}
		for _, other := range others {
			if err := other(ctx, tx); err != nil {
				return err
			}
		}
		if _, err := importing(ctx, tx, imported); err != nil {
			return err
		}
		if err := suppressing(ctx, tx); err != nil {
			return err
		}
		if err := tx.Campaigns().Keep(ctx, []lead.Campaign{campaign}); err != nil {
			return err
		}
		if err := tx.Taxonomy().Keep(ctx, taxonomy); err != nil {
			return err
		}
		if err := chaining(ctx, tx); err != nil {
			return err
		}
		if err := stubbing(stub)(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Retention().Hold(ctx, retention.Runs); err != nil {
			return err
		}
		return enqueueing(1, new([]event.Event))(ctx, tx)
	}
}

// byOthers are the tables that no unit writes to, but migrations, a move or a restoration.
var byOthers = []string{"moves", "restorations", "schema_compatibility"}

// nothingOf fails if the store is not as it was before write, or if write does not write to every table of it.
func (f *fixture) nothingOf(write unit, before map[string][]string) {
	f.Helper()
	f.same(f.dump(), before)
	f.update(write)
	after := f.dump()
	for table := range before {
		if slices.Equal(before[table], after[table]) && !slices.Contains(byOthers, table) {
			f.Errorf("nothing was written to the table %s", table)
		}
	}
}

func failureLeavesNothing(f *fixture) {
	write, before := writingEverywhere(f), f.dump()
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
	f.nothingOf(write, before)
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
	write, before := writingEverywhere(f), f.dump()
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
	f.nothingOf(write, before)
}

func exitLeavesNothing(f *fixture) {
	write, before := writingEverywhere(f), f.dump()
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
	f.nothingOf(write, before)
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
		teams, err := f.store.Teams().OfCompany(f.ctx, c.ID, 1000)
		f.ok(err)
		slots, err := f.store.Teams().SlotsOfCompany(f.ctx, c.ID)
		f.ok(err)
		agents, err := f.store.Agents().OfCompany(f.ctx, c.ID, 1000)
		f.ok(err)
		all = append(all, teams, slots, agents)
	}
	return all
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
	_, reading := f.store.StoreNow(gone)
	viewing := f.store.View(gone, func(ctx context.Context, r store.Reader) error {
		_, err := r.Companies().Get(ctx, acme.ID)
		return err
	})
	for what, err := range map[string]error{
		"Update": f.store.Update(gone, never), "Ready": f.store.Ready(gone), "Get": getting, "List": listing, "View": viewing,
		"StoreNow": reading,
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
