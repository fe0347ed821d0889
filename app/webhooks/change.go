package webhooks

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Update merges a patch into an endpoint.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, which id.Webhook, patch webhook.Patch, match precondition.Match,
) (webhook.Endpoint, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return webhook.Endpoint{}, err
	}
	var next webhook.Endpoint
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		current, err := locked(ctx, tx, which, match)
		if err != nil {
			return err
		}
		var updated *event.Event
		if next, updated, err = current.Apply(patch, tx.Now()); err != nil || updated == nil {
			return err
		}
		if err := tx.Webhooks().Save(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, updated.By(caller.Actor))
	})
	return next, err
}

// RotateSecret gives an endpoint a new secret.
func (s *Service) RotateSecret(
	ctx context.Context, caller access.Caller, which id.Webhook, once idempotency.Request,
) (inbound.IssuedWebhook, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedWebhook{}, err
	}
	secret, sealed := s.newSecret(which)
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (inbound.IssuedWebhook, error) {
		current, err := tx.Webhooks().Lock(ctx, which)
		if err != nil {
			return inbound.IssuedWebhook{}, err
		}
		next, rotated := current.RotateSecret(sealed, tx.Now())
		if err := tx.Webhooks().Save(ctx, next); err != nil {
			return inbound.IssuedWebhook{}, err
		}
		return inbound.IssuedWebhook{Endpoint: next, Secret: secret}, tx.Record(ctx, rotated.By(caller.Actor))
	})
}

// Delete removes an endpoint. Its log is out of sight at once, and is purged later.
func (s *Service) Delete(
	ctx context.Context, caller access.Caller, which id.Webhook, match precondition.Match,
) (webhook.Endpoint, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return webhook.Endpoint{}, err
	}
	var last webhook.Endpoint
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		if last, err = locked(ctx, tx, which, match); err != nil {
			return err
		}
		if err := tx.Webhooks().Remove(ctx, which); err != nil {
			return err
		}
		return tx.Record(ctx, last.Deleted().By(caller.Actor))
	})
	return last, err
}

// locked returns an endpoint to be changed, unless it is not the one that the client has seen.
func locked(ctx context.Context, tx store.Tx, which id.Webhook, match precondition.Match) (webhook.Endpoint, error) {
	current, err := tx.Webhooks().Lock(ctx, which)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return current, match.Check(current.Version)
}
