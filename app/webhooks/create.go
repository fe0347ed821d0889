package webhooks

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Create makes an endpoint with a secret of its own.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, draft webhook.Draft, once idempotency.Request,
) (inbound.IssuedWebhook, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedWebhook{}, err
	}
	newID := id.New[id.Webhook](s.ids.UUIDv7())
	secret, sealed := s.newSecret(newID)
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (inbound.IssuedWebhook, error) {
		endpoint, created, err := webhook.New(newID, draft, sealed, companiesIn(ctx, tx.Companies()), tx.Now())
		if err != nil {
			return inbound.IssuedWebhook{}, err
		}
		count, err := tx.Webhooks().Count(ctx)
		if err != nil {
			return inbound.IssuedWebhook{}, err
		}
		if count >= webhook.MostEndpoints {
			return inbound.IssuedWebhook{}, fault.New(fault.WebhookLimit,
				"There are %d webhooks, and no more are allowed; remove one first.", count)
		}
		if err := tx.Webhooks().Add(ctx, endpoint); err != nil {
			return inbound.IssuedWebhook{}, err
		}
		return inbound.IssuedWebhook{Endpoint: endpoint, Secret: secret}, tx.Record(ctx, created.By(caller.Actor))
	})
}

// newSecret makes a secret for an endpoint, to be shown once, and its sealed form, to be kept.
func (s *Service) newSecret(owner id.Webhook) (webhook.Secret, webhook.Sealed) {
	secret := webhook.NewSecret(s.entropy.Bits256())
	return secret, webhook.Sealed(s.vault.Seal(string(owner), string(secret)))
}
