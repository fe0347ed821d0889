package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/webhook"
)

// Webhooks are the use cases of webhook endpoints and their deliveries. All of them need Admin. An unknown id is
// fault.NotFound.
type Webhooks interface {
	List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[webhook.Endpoint], error)
	Get(ctx context.Context, caller access.Caller, which id.Webhook) (webhook.Endpoint, error)

	// Create's faults are those of webhook.New, and fault.WebhookLimit.
	Create(ctx context.Context, caller access.Caller, draft webhook.Draft, once idempotency.Request) (IssuedWebhook, error)

	// Update's faults are fault.PreconditionFailed and those of webhook.Endpoint.Apply.
	Update(
		ctx context.Context, caller access.Caller, which id.Webhook, patch webhook.Patch, match precondition.Match,
	) (webhook.Endpoint, error)

	// Delete removes an endpoint with its delivery log, and returns it as it was last. Its fault is
	// fault.PreconditionFailed.
	Delete(ctx context.Context, caller access.Caller, which id.Webhook, match precondition.Match) (webhook.Endpoint, error)

	// RotateSecret gives an endpoint a new secret. For webhook.Overlap the old one signs too.
	// Its fault is fault.PreconditionFailed.
	RotateSecret(
		ctx context.Context, caller access.Caller, which id.Webhook, match precondition.Match, once idempotency.Request,
	) (IssuedWebhook, error)

	// Test sends webhook.test to an endpoint, whatever its patterns. Its fault is that of webhook.Endpoint.Takes.
	Test(ctx context.Context, caller access.Caller, which id.Webhook, once idempotency.Request) (webhook.Delivery, error)

	// Resume lets all endpoints be sent again what is held for them since the store was restored, and returns them, by their ids.
	Resume(ctx context.Context, caller access.Caller) ([]webhook.Endpoint, error)

	// Deliveries returns the delivery log of an endpoint, newest first.
	Deliveries(ctx context.Context, caller access.Caller, list DeliveryList) (page.Page[webhook.Delivery], error)

	// Delivery returns a delivery to an endpoint, with what it sends.
	Delivery(ctx context.Context, caller access.Caller, which id.Webhook, delivery id.Delivery) (webhook.SentDelivery, error)

	// Redeliver sends an event to an endpoint again. Its fault is that of webhook.Endpoint.Takes.
	Redeliver(
		ctx context.Context, caller access.Caller, which id.Webhook, delivery id.Delivery, once idempotency.Request,
	) (webhook.Delivery, error)
}

// DeliveryList selects a page of deliveries.
type DeliveryList struct {
	Endpoint id.Webhook
	Status   webhook.Status // "": any
	After    page.Position
	Size     int // page.MinSize to page.MaxSize
}

// IssuedWebhook is an endpoint with its newest secret, which is shown only once.
type IssuedWebhook struct {
	Endpoint webhook.Endpoint
	Secret   webhook.Secret
}
