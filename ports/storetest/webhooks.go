package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var webhookRules = []rule{
	{"an endpoint reads back as it was added", endpointReadsBack},
	{"what is not there is not found", endpointNotFound},
	{"save replaces one endpoint and no other", endpointSave},
	{"save of an endpoint that was not locked here is a defect", endpointSaveNeedsLock},
	{"a list holds every endpoint, newest first", endpointList},
	{"of sixteen who count and add at once, no more get in than there is room for", endpointLimit},
	{"what is removed is found no more, nor are the deliveries to it", endpointRemove},
	{"what is not there cannot be removed", endpointRemoveNeedsEndpoint},
}

// newEndpoint makes an endpoint for all events that is in no store yet.
func (f *fixture) newEndpoint() webhook.Endpoint {
	f.Helper()
	target := "https://example.com/hooks"
	draft := webhook.Draft{Settings: webhook.Settings{URL: &target}}
	endpoint, _, err := webhook.New(id.New[id.Webhook](f.ids.UUIDv7()), draft, "sealed", nil, f.clock.Now())
	f.ok(err)
	return endpoint
}

// endpoint adds an endpoint, altered by each of alter.
func (f *fixture) endpoint(alter ...func(*webhook.Endpoint)) webhook.Endpoint {
	f.Helper()
	endpoint := f.newEndpoint()
	for _, change := range alter {
		change(&endpoint)
	}
	f.update(connecting(endpoint))
	return endpoint
}

func disabled(endpoint *webhook.Endpoint) { endpoint.Enabled = false }

func connecting(endpoint webhook.Endpoint) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Webhooks().Add(ctx, endpoint)
	}
}

// reconnect saves the next version of an endpoint, altered by change, and returns it.
func (f *fixture) reconnect(endpoint webhook.Endpoint, change func(*webhook.Endpoint)) webhook.Endpoint {
	f.Helper()
	change(&endpoint)
	endpoint.Version++
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Webhooks().Lock(ctx, endpoint.ID); err != nil {
			return err
		}
		return tx.Webhooks().Save(ctx, endpoint)
	})
	return endpoint
}

func disconnecting(which id.Webhook) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Webhooks().Remove(ctx, which)
	}
}

// endpointIs holds every way to read one endpoint against want.
func (f *fixture) endpointIs(want webhook.Endpoint) {
	f.Helper()
	got, err := f.store.Webhooks().Get(f.ctx, want.ID)
	f.ok(err)
	f.same(got, want)
	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := tx.Webhooks().Lock(ctx, want.ID)
		if err == nil {
			f.same(locked, want)
		}
		return err
	})
}

func endpointReadsBack(f *fixture) {
	at := f.clock.Now()
	for _, want := range []webhook.Endpoint{
		f.endpoint(),
		f.endpoint(disabled),
		f.endpoint(func(e *webhook.Endpoint) {
			e.URL = "http://[2001:db8::1]:8080/?" + strings.Repeat("ü", webhook.URLLength)
			e.Events = []webhook.Pattern{"company.*", webhook.Pattern(event.CompanyBudgetBreach), "*"}
			e.Company, e.Enabled = "cmp_some", false
			e.Description, e.DisabledReason = strings.Repeat("🦆", webhook.DescriptionLength), webhook.Gone
			e.Secret, e.OldSecret, e.OldSecretUntil = "v1:new", "v1:old", at.Add(webhook.Overlap)
			e.UpdatedAt, e.Version = at.Add(999*time.Millisecond), 1<<53+1
		}),
	} {
		f.endpointIs(want)
	}
}

func endpointNotFound(f *fixture) {
	f.endpoint()
	for _, which := range []id.Webhook{"", "whk_00000000000000000000000000", "' OR '1'='1", "%"} {
		_, err := f.store.Webhooks().Get(f.ctx, which)
		f.code(err, fault.NotFound)
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Webhooks().Lock(ctx, which)
			return err
		})
	}
}

func endpointSave(f *fixture) {
	at := f.clock.Now()
	changed, untouched := f.endpoint(), f.endpoint()
	changed = f.reconnect(changed, func(e *webhook.Endpoint) {
		e.URL, e.Events, e.Description = "http://example.com", []webhook.Pattern{"company.created"}, "New"
		e.Enabled, e.DisabledReason = false, webhook.Failing
		e.Secret, e.OldSecret, e.OldSecretUntil, e.UpdatedAt = "second", "sealed", at.Add(time.Hour), at.Add(time.Second)
	})
	f.endpointIs(changed)
	changed = f.reconnect(changed, func(e *webhook.Endpoint) {
		e.Enabled, e.DisabledReason, e.OldSecret, e.OldSecretUntil = true, "", "", time.Time{}
	})
	f.endpointIs(changed)
	f.endpointIs(untouched)
}

func endpointSaveNeedsLock(f *fixture) {
	missing, stale := f.newEndpoint(), f.endpoint()
	kept := f.reconnect(stale, func(e *webhook.Endpoint) { e.Description = "Second" })
	stale.Description = "Stale"
	for _, wrong := range []webhook.Endpoint{missing, stale} {
		f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Webhooks().Save(ctx, wrong)
		})
	}
	f.endpointIs(kept)
}

func endpointList(f *fixture) {
	none, err := f.store.Webhooks().List(f.ctx, page.Position{}, page.MaxSize)
	f.ok(err)
	f.same(none, page.Page[webhook.Endpoint]{})

	var want []webhook.Endpoint
	f.severally(func(i int) {
		want = append(want, f.endpoint(func(e *webhook.Endpoint) { e.Enabled = i%2 == 0 }))
	})
	slices.Reverse(want)
	for _, size := range []int{1, 2, 3, len(want), page.MaxSize} {
		f.same(walk(f, size, f.endpointPages(size)), want)
	}
}

func endpointLimit(f *fixture) {
	const room = 3
	made := make([]webhook.Endpoint, crowd)
	for i := range made {
		made[i] = f.newEndpoint()
	}
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			count, err := tx.Webhooks().Count(ctx)
			if err != nil {
				return err
			}
			if count >= room {
				return fault.New(fault.WebhookLimit, "There is no room.")
			}
			return connecting(made[i])(ctx, tx)
		})
	}), map[fault.Code]int{"": room, fault.WebhookLimit: crowd - room})
	f.same(len(walk(f, crowd, f.endpointPages(crowd))), room)
}

func endpointRemove(f *fixture) {
	gone, stays := f.endpoint(), f.endpoint()
	lost, kept := f.send(gone.ID), f.send(stays.ID)
	f.update(disconnecting(gone.ID))

	_, err := f.store.Webhooks().Get(f.ctx, gone.ID)
	f.code(err, fault.NotFound)
	f.same(walk(f, 10, f.endpointPages(10)), []webhook.Endpoint{stays})
	_, err = f.store.Deliveries().Get(f.ctx, gone.ID, lost.ID)
	f.code(err, fault.NotFound)
	f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Deliveries().Lock(ctx, gone.ID, lost.ID)
		return err
	})
	f.same(len(walk(f, 10, f.deliveryPages(gone.ID, 10))), 0)
	f.dueAre(gone.ID, f.clock.Now(), 10)
	f.same(f.claim("lease", 10), []id.Webhook{stays.ID})
	f.deliveryIs(kept)
}

func endpointRemoveNeedsEndpoint(f *fixture) {
	f.endpoint()
	f.refused(fault.Internal, disconnecting("whk_none"))
}
