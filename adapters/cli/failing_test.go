package cli_test

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

// failingWebhooks fails whatever it is asked.
type failingWebhooks struct{ err error }

func (f failingWebhooks) List(context.Context, access.Caller, page.Position, int) (page.Page[webhook.Endpoint], error) {
	return page.Page[webhook.Endpoint]{}, f.err
}

func (f failingWebhooks) Get(context.Context, access.Caller, id.Webhook) (webhook.Endpoint, error) {
	return webhook.Endpoint{}, f.err
}

func (f failingWebhooks) Create(context.Context, access.Caller, webhook.Draft, idempotency.Request) (inbound.IssuedWebhook, error) {
	return inbound.IssuedWebhook{}, f.err
}

func (f failingWebhooks) Update(
	context.Context, access.Caller, id.Webhook, webhook.Patch, precondition.Match,
) (webhook.Endpoint, error) {
	return webhook.Endpoint{}, f.err
}

func (f failingWebhooks) Delete(context.Context, access.Caller, id.Webhook, precondition.Match) (webhook.Endpoint, error) {
	return webhook.Endpoint{}, f.err
}

func (f failingWebhooks) RotateSecret(context.Context, access.Caller, id.Webhook, idempotency.Request) (inbound.IssuedWebhook, error) {
	return inbound.IssuedWebhook{}, f.err
}

func (f failingWebhooks) Test(context.Context, access.Caller, id.Webhook, idempotency.Request) (webhook.Delivery, error) {
	return webhook.Delivery{}, f.err
}

func (f failingWebhooks) Deliveries(context.Context, access.Caller, inbound.DeliveryList) (page.Page[webhook.Delivery], error) {
	return page.Page[webhook.Delivery]{}, f.err
}

func (f failingWebhooks) Redeliver(
	context.Context, access.Caller, id.Webhook, id.Delivery, idempotency.Request,
) (webhook.Delivery, error) {
	return webhook.Delivery{}, f.err
}
