package webhooks

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Create makes an endpoint and its secret.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, draft webhook.Draft, once idempotency.Request,
) (inbound.IssuedWebhook, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedWebhook{}, err
	}
	newID := id.New[id.Webhook](s.ids.UUIDv7())
	var secret webhook.Secret
	request := store.Request{Actor: caller.Actor, Once: once}
	made, err := store.Create(ctx, s.store, request, store.Tx.Webhooks,
		func(ctx context.Context, tx store.Tx) (webhook.Endpoint, event.Event, error) {
			made, sealed, err := s.newSecret(ctx, tx, newID)
			if err != nil {
				return webhook.Endpoint{}, event.Event{}, err
			}
			secret = made
			endpoint, created, err := webhook.New(newID, draft, sealed, store.ResolveCompany(ctx, tx.Companies()), tx.Now())
			if err != nil {
				return endpoint, created, err
			}
			return endpoint, created, checkLimit(ctx, tx)
		})
	return inbound.IssuedWebhook{Endpoint: made, Secret: secret}, err
}

// checkLimit fails with fault.WebhookLimit when there are webhook.MostEndpoints.
func checkLimit(ctx context.Context, tx store.Tx) error {
	count, err := tx.Webhooks().Count(ctx)
	if err == nil && count >= webhook.MostEndpoints {
		err = fault.New(fault.WebhookLimit, "There are %d webhooks, and no more are allowed; remove one first.", count)
	}
	return err
}

// newSecret makes a secret to be shown once, and its sealed form to be stored.
func (s *Service) newSecret(ctx context.Context, tx store.Tx, owner id.Webhook) (webhook.Secret, webhook.Sealed, error) {
	secret := webhook.NewSecret(s.entropy.Bits256())
	sealed, err := store.SealIn(ctx, tx, s.vault, string(owner), string(secret))
	return secret, webhook.Sealed(sealed), err
}
