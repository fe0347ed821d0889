package storetest

import (
	"context"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var webhookRules = anyEndpoint.rules([]rule{
	{"of sixteen who count and add at once, no more get in than there is room for", endpointLimit},
	{"what is removed is found no more, nor are the deliveries to it", endpointRemove},
	{"what is not there cannot be removed", endpointRemoveNeedsEndpoint},
})

var anyEndpoint = aggregate[id.Webhook, webhook.Endpoint]{
	of:     func(r store.Reader) store.Getter[id.Webhook, webhook.Endpoint] { return r.Webhooks() },
	in:     func(tx store.Tx) store.Repository[id.Webhook, webhook.Endpoint] { return tx.Webhooks() },
	new:    (*fixture).newEndpoint,
	list:   (*fixture).endpointPages,
	remove: func(f *fixture, which id.Webhook) { f.update(disconnecting(which)) },
	full: func(f *fixture, e *webhook.Endpoint) {
		at := f.clock.Now()
		e.URL = "http://[2001:db8::1]:8080/?" + strings.Repeat("ü", webhook.URLLength)
		e.Events = []webhook.Pattern{"company.*", webhook.Pattern(event.CompanyBudgetBreach), "*"}
		e.Company = "cmp_some"
		e.Description, e.DisabledReason = strings.Repeat("🦆", webhook.DescriptionLength), webhook.Gone
		e.Secret, e.OldSecret, e.OldSecretUntil = "v1:new", "v1:old", at.Add(webhook.Overlap)
		e.UpdatedAt, e.Version = at.Add(999*time.Millisecond), 1<<53+1
	},
	edit: func(f *fixture, e *webhook.Endpoint) {
		e.URL, e.Events, e.Company = "http://example.com", []webhook.Pattern{"company.created"}, ""
		e.Description, e.DisabledReason, e.Enabled = "New", "", false
		e.Secret, e.OldSecret, e.OldSecretUntil, e.UpdatedAt = "second", "", time.Time{}, f.clock.Now().Add(time.Hour)
	},
	permanent: []string{"CreatedAt"},
	texts: func(e *webhook.Endpoint, text string) {
		e.URL, e.Description, e.DisabledReason = text, text, text
		e.Secret, e.OldSecret = webhook.Sealed(text), webhook.Sealed(text)
	},
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
