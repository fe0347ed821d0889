package storetest

import (
	"context"
	"fmt"
	"strings"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var deletionRules = []rule{
	{"a company with rows in every table is emptied in steps of any size, then removed", deletion},
	{"a company with many rows is emptied until it is enough", emptiedForAWhile},
	{"an empty company is done at once, again and again", emptyAgain},
	{"the last words on a company stay, and its slug is free", lastWords},
	{"a company that is not empty stays", notEmpty},
	{"an answer that went with its company is a conflict, not another effect", blankedAnswer},
}

// settled is a company with rows in every table.
type settled struct {
	company  company.Company
	endpoint id.Webhook        // to which deliveries go with its data
	keys     []idempotency.Key // of the receipts whose answers hold its data
}

func (f *fixture) settle(slug string) settled {
	f.Helper()
	s := settled{company: f.found(slug), endpoint: f.endpoint(disabled).ID}
	for range 2 {
		for _, some := range ofCompanies {
			f.update(some(f, s.company.ID))
		}
	}
	for i := range 2 {
		f.send(s.endpoint, ended(webhook.Succeeded), func(d *webhook.Delivery) { d.Company = s.company.ID })
		f.update(moving(s.company.ID, rename(fmt.Sprint(i))))
		key := idempotency.Key{Caller: "tok_some", Value: fmt.Sprint(slug, i)}
		s.keys = append(s.keys, key)
		f.update(keeping(idempotency.Receipt{
			Key: key, Fingerprint: "f", Company: s.company.ID, Answer: []byte("{}"), CreatedAt: f.clock.Now(),
		}))
	}
	return s
}

// rows counts what is left of a company, besides itself.
func (f *fixture) rows(s settled) (left int) {
	f.Helper()
	for table, rows := range f.dump() {
		for _, row := range rows {
			if table != "companies" && strings.Contains(row, string(s.company.ID)) {
				left++
			}
		}
	}
	return left
}

// kept returns the receipt under a key that is taken.
func (f *fixture) kept(key idempotency.Key) (receipt idempotency.Receipt) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		kept, err := tx.Receipts().Claim(ctx, key)
		if err == nil && kept == nil {
			err = fmt.Errorf("%v is free", key)
		}
		if err == nil {
			receipt = *kept
		}
		return err
	})
	return receipt
}

func deletion(f *fixture) {
	other := f.settle("other")
	all := f.rows(other)
	for _, most := range []int{1, 2, 3, 4, 7, all - 1, all, all + 1, 1000} {
		s := f.settle(fmt.Sprintf("steps-of-%d", most))
		f.same(f.rows(s), all)
		for left := all; left > 0; {
			done := f.empty(s.company.ID, most)
			left -= min(most, left)
			f.same(f.rows(s), left)
			f.same(done, left == 0)
		}
		f.update(removing(s.company.ID))
		_, err := f.store.Companies().Get(f.ctx, s.company.ID)
		f.code(err, fault.NotFound)
	}
	f.same(f.rows(other), all)
	f.same(string(f.kept(other.keys[0]).Answer), "{}")
}

func emptiedForAWhile(f *fixture) {
	s := f.settle("acme")
	events := make([]event.Event, 250)
	for n := range events {
		events[n] = founded(s.company)
	}
	f.update(recording(events...))
	some := store.Emptying{Most: 1000, Enough: func() bool { return true }}
	for left := f.rows(s); left > 0; {
		var done bool
		f.update(func(ctx context.Context, tx store.Tx) (err error) {
			tx.Unrecorded()
			some.From, done, err = tx.Companies().Empty(ctx, s.company.ID, some)
			return err
		})
		before := left
		if left = f.rows(s); left >= before || left < before-100 {
			f.Fatalf("of %d rows %d are left", before, left)
		}
		f.same(done, left == 0)
	}
	f.update(removing(s.company.ID))
}

func emptyAgain(f *fixture) {
	s := f.settle("acme")
	f.empty(s.company.ID, 1000)
	for _, most := range []int{1, 1000} {
		f.same(f.empty(s.company.ID, most), true)
	}
	got, err := f.store.Companies().Get(f.ctx, s.company.ID)
	f.ok(err)
	f.same(got.ID, s.company.ID)
}

func lastWords(f *fixture) {
	s := f.settle("acme")
	var last company.Company
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		locked, err := tx.Companies().Lock(ctx, s.company.ID)
		if err != nil {
			return err
		}
		if last, err = locked.Delete("token:tok_admin", tx.Now()); err != nil {
			return err
		}
		return tx.Companies().Save(ctx, last)
	})
	f.looksLike(last)
	f.update(func(ctx context.Context, tx store.Tx) error {
		if err := removing(last.ID)(ctx, tx); err != nil {
			return err
		}
		return tx.Record(ctx, last.Deleted())
	})
	f.recorded([]event.Type{event.CompanyDeleted})
	words, err := f.store.Activity().List(f.ctx, store.ActivityFilter{Company: new(id.Company)}, page.Position{}, 10)
	f.ok(err)
	f.same(words.Items[0].Actor, last.DeletedBy)
	f.same(words.Items[0].Data, event.Fields{event.F("id", string(last.ID)), event.F("slug", "acme")})

	_, err = f.store.Companies().BySlug(f.ctx, "acme")
	f.code(err, fault.NotFound)
	f.looksLike(f.found("acme"))
}

func notEmpty(f *fixture) {
	s := f.settle("acme")
	all := f.rows(s)
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Companies().Remove(ctx, s.company.ID)
	})
	f.same(f.rows(s), all)
}

func blankedAnswer(f *fixture) {
	made := f.newCompany("acme")
	request := asking("key", "fingerprint")
	create := func() error {
		_, err := store.UpdateOnce(f.ctx, f.store, request, made.ID, func(ctx context.Context, tx store.Tx) (string, error) {
			return "made", adding(made)(ctx, tx)
		})
		return err
	}
	f.ok(create())
	f.remove(made.ID)
	f.same(f.kept(request.Key).Answer == nil, true)
	f.code(create(), fault.IdempotencyConflict)
	_, err := f.store.Companies().Get(f.ctx, made.ID)
	f.code(err, fault.NotFound)

	f.clock.Advance(idempotency.Lifetime)
	f.ok(create())
}
