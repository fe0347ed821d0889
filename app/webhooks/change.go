package webhooks

import (
	"context"
	"slices"

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
	request := store.Request{Actor: caller.Actor, Match: match}
	return store.ChangeReading(ctx, s.store, request, which, store.Tx.Webhooks,
		func(ctx context.Context, tx store.Tx, e webhook.Endpoint) (webhook.Endpoint, *event.Event, error) {
			ended, err := hasEnded(ctx, tx, e)
			if err != nil {
				return e, nil, err
			}
			return e.Apply(patch, ended, tx.Now())
		})
}

// hasEnded reports whether a disabled endpoint has nothing left to send because its company was removed.
func hasEnded(ctx context.Context, tx store.Tx, e webhook.Endpoint) (bool, error) {
	if e.Enabled || e.Company == "" {
		return false, nil
	}
	finished, err := tx.Removals().Finished(ctx, e.Company)
	return slices.ContainsFunc(finished, func(other webhook.Endpoint) bool { return other.ID == e.ID }), err
}

// RotateSecret gives an endpoint a new secret.
func (s *Service) RotateSecret(
	ctx context.Context, caller access.Caller, which id.Webhook, match precondition.Match, once idempotency.Request,
) (inbound.IssuedWebhook, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedWebhook{}, err
	}
	var secret webhook.Secret
	request := store.Request{Actor: caller.Actor, Match: match, Once: once}
	rotated, err := store.ChangeReading(ctx, s.store, request, which, store.Tx.Webhooks,
		func(ctx context.Context, tx store.Tx, e webhook.Endpoint) (webhook.Endpoint, *event.Event, error) {
			made, sealed, err := s.newSecret(ctx, tx, which)
			if err != nil {
				return e, nil, err
			}
			secret = made
			next, happened := e.RotateSecret(sealed, tx.Now())
			return next, &happened, nil
		})
	return inbound.IssuedWebhook{Endpoint: rotated, Secret: secret}, err
}

// Resume lets all endpoints be sent again what is held for them.
func (s *Service) Resume(ctx context.Context, caller access.Caller) (resumed []webhook.Endpoint, err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return nil, err
	}
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		resumed = nil
		held, err := tx.Outbox().Held(ctx, webhook.MostEndpoints)
		if err != nil {
			return err
		}
		for _, one := range held {
			isResumed, err := tx.Outbox().Resume(ctx, one.ID)
			if err != nil {
				return err
			}
			if !isResumed { // by another unit
				continue
			}
			if err := tx.Record(ctx, one.Resumed().By(caller.Actor)); err != nil {
				return err
			}
			resumed = append(resumed, one)
		}
		return nil
	})
	return resumed, err
}

// Delete removes an endpoint. Its log is hidden at once and purged later.
func (s *Service) Delete(
	ctx context.Context, caller access.Caller, which id.Webhook, match precondition.Match,
) (webhook.Endpoint, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return webhook.Endpoint{}, err
	}
	var last webhook.Endpoint
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		if last, err = tx.Webhooks().Lock(ctx, which); err != nil {
			return err
		}
		if err := match.Check(last.Version); err != nil {
			return err
		}
		if err := tx.Webhooks().Remove(ctx, which); err != nil {
			return err
		}
		return tx.Record(ctx, last.Deleted().By(caller.Actor))
	})
	return last, err
}
