package storetest

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// newSuppression makes a suppression that is in no store yet.
func (f *fixture) newSuppression() lead.Suppression {
	f.clock.Advance(time.Millisecond)
	newID := id.New[id.Suppression](f.ids.UUIDv7())
	return lead.SuppressionKey("key").Forget(newID, fullLead(string(newID)), f.clock.Now())
}

// advancesLeads runs a unit that has advanced leads.
func (f *fixture) advancesLeads(write func(ctx context.Context, tx store.Tx) error) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		return write(ctx, tx)
	})
}

// suppresses expects that a number of suppressions is added.
func (f *fixture) suppresses(want int, some ...lead.Suppression) {
	f.Helper()
	f.advancesLeads(func(ctx context.Context, tx store.Tx) error {
		added, err := tx.Leads().Suppress(ctx, some)
		f.same(added, want)
		return err
	})
}

// someSuppression is for a unit that has advanced leads.
func someSuppression(f *fixture) unit {
	made := f.newSuppression()
	return func(ctx context.Context, tx store.Tx) error {
		if err := tx.Leads().KeepSuppressionKey(ctx, "sealed"); err != nil {
			return err
		}
		_, err := tx.Leads().Suppress(ctx, []lead.Suppression{made})
		return err
	}
}

func leadsSuppressed(f *fixture) {
	expect := func(revision lead.Revision, want ...lead.Suppression) {
		f.Helper()
		got, err := f.store.Leads().Suppressions(f.ctx)
		f.ok(err)
		f.same(got, want)
		state, err := f.store.Leads().State(f.ctx)
		f.ok(err)
		f.same(state.Suppressed, revision)
	}
	expect(0)
	one, two, three := f.newSuppression(), f.newSuppression(), f.newSuppression()
	f.suppresses(1, one)
	expect(1, one)
	again := f.newSuppression()
	again.Digests = one.Digests
	f.suppresses(2, three, again, two, three)
	expect(2, one, two, three)
	f.suppresses(0)
	f.suppresses(0, again, two, again)
	f.imports(fullLead("some"))
	expect(2, one, two, three)
	f.advancesLeads(func(ctx context.Context, tx store.Tx) error {
		released, err := tx.Leads().Release(ctx, []id.Suppression{two.ID, "sup_none", one.ID})
		f.same(released, 2)
		return err
	})
	expect(6, three)
}

func leadSuppressionKey(f *fixture) {
	expect := func(want string) {
		f.Helper()
		got, err := f.store.Leads().SuppressionKey(f.ctx)
		f.ok(err)
		f.same(got, want)
	}
	expect("")
	f.advancesLeads(func(ctx context.Context, tx store.Tx) error { return tx.Leads().KeepSuppressionKey(ctx, "sealed") })
	expect("sealed")
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		found, err := f.store.Seals().After(ctx, store.Seal{}, 10)
		if err != nil {
			return err
		}
		f.same(len(found), 1)
		f.same(found[0].Owner, store.SuppressionKeyOwner)
		return tx.Seals().Replace(ctx, found[0], "anew")
	})
	expect("anew")
}
