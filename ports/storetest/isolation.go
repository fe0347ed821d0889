package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var isolationRules = []rule{
	{"a unit reads what it wrote", readsOwnWrites},
	{"no other reader sees it before it commits", hiddenUntilCommit},
	{"a view is one snapshot, from its beginning on", viewIsSnapshot},
	{"the error of a view comes out as it is", viewFails},
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
		teams, err := tx.Teams().OfCompany(ctx, c.ID, 1000)
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
		kept, err := tx.Receipts().Claim(ctx, idempotency.Key{Caller: string(tokens.Items[0].ID), Value: "key"})
		f.ok(err)
		f.same(string(kept.Answer), "{}")
		endpoints, err := tx.Outbox().Idle(ctx)
		f.ok(err)
		f.same(len(endpoints), 1)
		due, err := tx.Deliveries().Due(ctx, endpoints[0].ID, tx.Now(), 10)
		f.ok(err)
		f.same(len(due), 1)
		entry, err := tx.Activity().Get(ctx, activity.Items[0].ID)
		f.ok(err)
		unqueued, err := tx.Outbox().Unqueued(ctx, 10)
		f.ok(err)
		head := entry
		head.Data, head.Previous = nil, nil
		f.same(unqueued, []event.Event{head})
		f.ok(tx.Outbox().Enqueue(ctx, []id.Entry{entry.ID}, []id.Webhook{endpoints[0].ID}))
		queued, err := tx.Outbox().Next(ctx, endpoints[0].ID, 1, 10)
		f.ok(err)
		f.same(queued, []store.Queued{{Event: entry, Position: 1}})
		claimed, err := tx.Outbox().Claim(ctx, "lease", tx.Now().Add(time.Hour), 10)
		f.ok(err)
		f.same(claimed, []webhook.Queue{{Endpoint: endpoints[0].ID, Cursor: 1, Lease: "lease", LeasedUntil: tx.Now().Add(time.Hour)}})
		_, err = tx.Outbox().Leased(ctx, endpoints[0].ID, "lease")
		f.ok(err)
		fingerprint, err := tx.InstanceKey().Fingerprint(ctx)
		f.ok(err)
		f.same(fingerprint, "fingerprint")
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
			f.send(f.endpoint().ID)
		})
		elsewhere.Wait()
	}
	type look struct {
		name                                 string
		version                              int64
		listed, teams, slots, events, tokens int
		endpoints, pending, unqueued         int
	}
	looks := func(ctx context.Context, r store.Reader) look {
		c, err := r.Companies().Get(ctx, acme.ID)
		f.ok(err)
		listed, err := r.Companies().List(ctx, store.CompanyFilter{}, page.Position{}, 10)
		f.ok(err)
		teams, err := r.Teams().OfCompany(ctx, acme.ID, 1000)
		f.ok(err)
		slots, err := r.Teams().SlotsOfCompany(ctx, acme.ID)
		f.ok(err)
		events, err := r.Activity().List(ctx, store.ActivityFilter{}, page.Position{}, 10)
		f.ok(err)
		tokens, err := r.Tokens().List(ctx, page.Position{}, 10)
		f.ok(err)
		endpoints, err := r.Webhooks().List(ctx, page.Position{}, 10)
		f.ok(err)
		backlog, err := r.Outbox().Backlog(ctx)
		f.ok(err)
		return look{
			c.Name, c.Version, len(listed.Items), len(teams), len(slots), len(events.Items), len(tokens.Items),
			len(endpoints.Items), backlog.Pending, backlog.Unqueued,
		}
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
