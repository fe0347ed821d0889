package webhooks

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Deliveries returns a page of the delivery log of one endpoint.
func (s *Service) Deliveries(ctx context.Context, caller access.Caller, list inbound.DeliveryList) (page.Page[webhook.Delivery], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[webhook.Delivery]{}, err
	}
	if _, err := s.store.Webhooks().Get(ctx, list.Endpoint); err != nil {
		return page.Page[webhook.Delivery]{}, err
	}
	filter := store.DeliveryFilter{Endpoint: list.Endpoint, Status: list.Status}
	return s.store.Deliveries().List(ctx, filter, list.After, list.Size)
}

// Delivery returns a delivery with the body that its attempts send: the event does not change, and so does not its encoding.
func (s *Service) Delivery(
	ctx context.Context, caller access.Caller, which id.Webhook, delivery id.Delivery,
) (sent webhook.SentDelivery, err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return sent, err
	}
	if sent.Delivery, err = s.store.Deliveries().Get(ctx, which, delivery); err != nil {
		return sent, err
	}
	happened, err := s.store.Outbox().Events(ctx, []id.Entry{sent.Event})
	if err != nil || len(happened) == 0 {
		return sent, err
	}
	sent.Body, err = webhook.Body(happened[0].Event, happened[0].Position)
	return sent, err
}

// Test creates a delivery of webhook.test to an endpoint, which the job of app/deliveries sends.
func (s *Service) Test(
	ctx context.Context, caller access.Caller, which id.Webhook, once idempotency.Request,
) (webhook.Delivery, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return webhook.Delivery{}, err
	}
	newID, entryID := id.New[id.Delivery](s.ids.UUIDv7()), id.New[id.Entry](s.ids.UUIDv7())
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (webhook.Delivery, error) {
		endpoint, err := tx.Webhooks().Lock(ctx, which)
		if err != nil {
			return webhook.Delivery{}, err
		}
		if err := endpoint.Takes("test"); err != nil {
			return webhook.Delivery{}, err
		}
		test := endpoint.Test().By(caller.Actor)
		test.ID = entryID
		if err := tx.Record(ctx, test); err != nil {
			return webhook.Delivery{}, err
		}
		delivery := webhook.NewDelivery(newID, which, test, tx.Now())
		return delivery, tx.Deliveries().Add(ctx, delivery)
	})
}

// Redeliver makes a delivery pending again.
func (s *Service) Redeliver(
	ctx context.Context, caller access.Caller, which id.Webhook, delivery id.Delivery, once idempotency.Request,
) (webhook.Delivery, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return webhook.Delivery{}, err
	}
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (webhook.Delivery, error) {
		endpoint, err := tx.Webhooks().Lock(ctx, which)
		if err != nil {
			return webhook.Delivery{}, err
		}
		current, err := tx.Deliveries().Lock(ctx, which, delivery)
		if err != nil {
			return webhook.Delivery{}, err
		}
		if err := endpoint.Takes("redeliver"); err != nil {
			return webhook.Delivery{}, err
		}
		next := current.Redeliver(tx.Now())
		if err := tx.Deliveries().Save(ctx, next); err != nil {
			return webhook.Delivery{}, err
		}
		return next, tx.Record(ctx, endpoint.Redelivered(next).By(caller.Actor))
	})
}
