package storetest

import (
	"context"
	"maps"
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// writeCases makes rows for every method to work with, each for itself, and returns a case of each by its name.
func (f *fixture) writeCases() map[string]writeCase {
	f.Helper()
	cases := map[string]writeCase{}
	for _, some := range writers {
		maps.Copy(cases, some(f))
	}
	cases["InstanceKey.Bind"] = writeCase{notes, func(ctx context.Context, tx store.Tx) error {
		return tx.InstanceKey().Bind(ctx, "fingerprint")
	}}
	// A log that was not moved keeps its order; a test of package sqlstore moves one.
	cases["Activity.Extend"] = writeCase{notes, chaining}
	cases["Activity.Reorder"] = writeCase{claims, func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Activity().Reorder(ctx)
		return err
	}}
	happened := founded(f.newCompany("recorded"))
	cases["Record"] = writeCase{notes, recording(happened)}
	return cases
}

func (f *fixture) companyWrites() map[string]writeCase {
	acme, leaving, newcomer := f.found("acme"), f.found("leaving"), f.newCompany("new")
	f.staff(acme.ID, 1)
	f.empty(leaving.ID, 100)
	lock := func(ctx context.Context, tx store.Tx) (company.Company, error) {
		return tx.Companies().Lock(ctx, acme.ID)
	}
	return map[string]writeCase{
		"Companies.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Companies.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Companies().Add(ctx, newcomer) }},
		"Companies.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Name, locked.Version = "New", locked.Version+1
			return tx.Companies().Save(ctx, locked)
		}},
		"Companies.Empty": {changes, func(ctx context.Context, tx store.Tx) error {
			_, _, err := tx.Companies().Empty(ctx, acme.ID, store.Emptying{Most: 1})
			return err
		}},
		"Companies.Remove": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Companies().Remove(ctx, leaving.ID) }},
	}
}

func (f *fixture) tokenWrites() map[string]writeCase {
	token, newToken := f.issue("read"), f.newToken("read")
	used := f.clock.Now().Add(time.Second)
	lockToken := func(ctx context.Context, tx store.Tx) (access.Token, error) { return tx.Tokens().Lock(ctx, token.ID) }
	return map[string]writeCase{
		"Tokens.Lock":    {locks, func(ctx context.Context, tx store.Tx) error { _, err := lockToken(ctx, tx); return err }},
		"Tokens.LockAll": {locks, func(ctx context.Context, tx store.Tx) error { return tx.Tokens().LockAll(ctx) }},
		"Tokens.Add":     {changes, func(ctx context.Context, tx store.Tx) error { return tx.Tokens().Add(ctx, newToken) }},
		"Tokens.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lockToken(ctx, tx)
			if err != nil {
				return err
			}
			locked.Name, locked.Version = "New", locked.Version+1
			return tx.Tokens().Save(ctx, locked)
		}},
		"Tokens.Touch": {notes, touching(map[id.Token]time.Time{token.ID: used})},
	}
}

func (f *fixture) receiptWrites() map[string]writeCase {
	receipt := idempotency.Receipt{
		Key: idempotency.Key{Caller: "tok_some", Value: "kept"}, Fingerprint: "f", Answer: []byte("{}"), CreatedAt: f.clock.Now(),
	}
	f.update(keeping(receipt))
	receipt.Key.Value = "new"
	return map[string]writeCase{
		"Receipts.Claim": {claims, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Receipts().Claim(ctx, idempotency.Key{Caller: "tok_some", Value: "claimed"})
			return err
		}},
		"Receipts.Keep": {notes, keeping(receipt)},
		"Receipts.Purge": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Receipts().Purge(ctx, f.clock.Now().Add(time.Hour), 1)
			return err
		}},
	}
}

func (f *fixture) webhookWrites() map[string]writeCase {
	held := f.endpoint().ID
	purged := f.send(held)
	released := f.endpoint().ID
	f.send(released)
	f.claim("lease", 2)
	changed, leaving, newcomer := f.endpoint(), f.endpoint(), f.newEndpoint()
	sent, unsent := f.send(changed.ID, tried(1)), f.newDelivery(leaving.ID)
	more, another := f.newDelivery(changed.ID), f.newDelivery(changed.ID)
	happened := founded(f.newCompany("happened"))
	happened.ID = id.New[id.Entry](f.ids.UUIDv7())
	f.update(recording(happened))
	queue := func(ctx context.Context, tx store.Tx) (webhook.Queue, error) {
		return tx.Outbox().Leased(ctx, held, "lease")
	}
	return map[string]writeCase{
		"Webhooks.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Webhooks().Lock(ctx, changed.ID)
			return err
		}},
		"Webhooks.Count": {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Webhooks().Count(ctx); return err }},
		"Webhooks.Add":   {changes, func(ctx context.Context, tx store.Tx) error { return tx.Webhooks().Add(ctx, newcomer) }},
		"Webhooks.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := tx.Webhooks().Lock(ctx, changed.ID)
			if err != nil {
				return err
			}
			locked.Enabled, locked.Version = false, locked.Version+1
			return tx.Webhooks().Save(ctx, locked)
		}},
		"Webhooks.Remove": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Webhooks().Remove(ctx, leaving.ID) }},
		"Deliveries.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Deliveries().Lock(ctx, changed.ID, sent.ID)
			return err
		}},
		"Deliveries.LockAll": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Deliveries().LockAll(ctx, changed.ID, []id.Delivery{sent.ID})
			return err
		}},
		"Deliveries.Add": {notes, sending(unsent)},
		"Deliveries.AddAll": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Deliveries().AddAll(ctx, []webhook.Delivery{more, another})
		}},
		"Deliveries.Save": {notes, func(ctx context.Context, tx store.Tx) error {
			locked, err := tx.Deliveries().Lock(ctx, changed.ID, sent.ID)
			if err != nil {
				return err
			}
			locked.Tries++
			return tx.Deliveries().Save(ctx, locked)
		}},
		"Deliveries.Purge": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Deliveries().Purge(ctx, purged.CreatedAt.Add(time.Hour), 1)
			return err
		}},
		"Outbox.Unqueued": {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Outbox().Unqueued(ctx, 10); return err }},
		"Outbox.Idle":     {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Outbox().Idle(ctx); return err }},
		"Outbox.Enqueue": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Outbox().Enqueue(ctx, []id.Entry{happened.ID}, []id.Webhook{leaving.ID})
		}},
		"Outbox.Claim":  {notes, claiming("another", 1, new([]webhook.Queue))},
		"Outbox.Leased": {locks, func(ctx context.Context, tx store.Tx) error { _, err := queue(ctx, tx); return err }},
		"Outbox.Save": {notes, func(ctx context.Context, tx store.Tx) error {
			locked, err := queue(ctx, tx)
			if err != nil {
				return err
			}
			locked.FailingSince = tx.Now()
			return tx.Outbox().Save(ctx, locked)
		}},
		"Outbox.Release": {notes, releasing(webhook.Queue{Endpoint: released, Lease: "lease"})},
		"Outbox.Hold":    {claims, holdingForAMoment},
		"Outbox.Held":    {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Outbox().Held(ctx, 1); return err }},
		"Outbox.Resume":  {claims, holdingForAMoment},
	}
}

func (f *fixture) removalWrites() map[string]writeCase {
	gone, closed := f.found("gone"), f.found("closed")
	f.update(removing(gone.ID))
	f.update(removing(closed.ID))
	endpoint := f.endpoint(disabled).ID
	f.send(endpoint, ended(webhook.Failed), func(d *webhook.Delivery) { d.Company = gone.ID })
	return map[string]writeCase{
		"Removals.Purge": {notes, func(ctx context.Context, tx store.Tx) error {
			_, _, _, err := tx.Removals().Purge(ctx, gone.ID, f.clock.Now(), page.Position{}, 10)
			return err
		}},
		"Removals.Finished": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Removals().Finished(ctx, gone.ID)
			return err
		}},
		"Removals.Postpone": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Removals().Postpone(ctx, gone.ID, f.clock.Now())
		}},
		"Removals.Close": {notes, func(ctx context.Context, tx store.Tx) error { return tx.Removals().Close(ctx, closed.ID) }},
	}
}

func (f *fixture) leadWrites() map[string]writeCase {
	f.imports(leadCalled("old"), leadCalled("leaving"))
	f.keepCampaigns(f.newCampaign("old"))
	campaign, taxonomy := f.newCampaign("new"), f.newTaxonomy()
	suppressed, newcomer := f.newSuppression(), f.newSuppression()
	f.suppresses(1, suppressed)
	// advanced is a write that Leads.Advance has to go before.
	advanced := func(write func(ctx context.Context, tx store.Tx, at time.Time) error) writeCase {
		return writeCase{changes, func(ctx context.Context, tx store.Tx) error {
			at, err := tx.Leads().Advance(ctx)
			if err != nil {
				return err
			}
			return write(ctx, tx, at)
		}}
	}
	return map[string]writeCase{
		"Leads.Advance": {notes, advancing(new(time.Time))},
		"Leads.Restored": {notes, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Leads().Restored(ctx)
		}},
		"Leads.Keep": advanced(func(ctx context.Context, tx store.Tx, at time.Time) error {
			_, err := importingAt(ctx, tx, at, leadCalled("new"), leadCalled("old", func(l *lead.Lead) { l.Name = "New" }))
			return err
		}),
		"Leads.Remove": advanced(func(ctx context.Context, tx store.Tx, at time.Time) error {
			_, err := tx.Leads().Remove(ctx, []id.Lead{"cmp_leaving"}, at)
			return err
		}),
		"Leads.KeepSuppressionKey": advanced(func(ctx context.Context, tx store.Tx, _ time.Time) error {
			return tx.Leads().KeepSuppressionKey(ctx, "sealed")
		}),
		"Leads.Suppress": advanced(func(ctx context.Context, tx store.Tx, _ time.Time) error {
			_, err := tx.Leads().Suppress(ctx, []lead.Suppression{newcomer})
			return err
		}),
		"Leads.Release": advanced(func(ctx context.Context, tx store.Tx, _ time.Time) error {
			_, err := tx.Leads().Release(ctx, []id.Suppression{suppressed.ID})
			return err
		}),
		"Campaigns.Keep": advanced(func(ctx context.Context, tx store.Tx, _ time.Time) error {
			return tx.Campaigns().Keep(ctx, []lead.Campaign{campaign})
		}),
		"Campaigns.Count": advanced(func(ctx context.Context, tx store.Tx, _ time.Time) error {
			return tx.Campaigns().Count(ctx, map[id.Campaign]int64{"cam_old": 1})
		}),
		"Taxonomy.Keep": advanced(func(ctx context.Context, tx store.Tx, _ time.Time) error { return tx.Taxonomy().Keep(ctx, taxonomy) }),
	}
}
