package sqlstore

import (
	"context"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// webhooks implements store.Webhooks. What only reads has no instant.
type webhooks struct {
	stored[id.Webhook, webhook.Endpoint]
	now time.Time
}

func webhooksOf(s session, now time.Time) webhooks {
	return webhooks{stored[id.Webhook, webhook.Endpoint]{s, endpointTable}, now}
}

var endpointTable = tableOf("webhooks", fault.New(fault.NotFound, "There is no such webhook."),
	asText("id", func(e *webhook.Endpoint) *id.Webhook { return &e.ID }),
	asText("url", func(e *webhook.Endpoint) *string { return &e.URL }),
	asWords("events", func(e *webhook.Endpoint) *[]webhook.Pattern { return &e.Events }),
	asText("company_id", func(e *webhook.Endpoint) *id.Company { return &e.Company }).inIndex(),
	asBoolean("enabled", func(e *webhook.Endpoint) *bool { return &e.Enabled }).inIndex(),
	asText("description", func(e *webhook.Endpoint) *string { return &e.Description }),
	asText("disabled_reason", func(e *webhook.Endpoint) *string { return &e.DisabledReason }),
	asText("secret", func(e *webhook.Endpoint) *webhook.Sealed { return &e.Secret }),
	asText("old_secret", func(e *webhook.Endpoint) *webhook.Sealed { return &e.OldSecret }),
	asOptionalMillis("old_secret_until", func(e *webhook.Endpoint) *time.Time { return &e.OldSecretUntil }),
	asMillis(createdAt, func(e *webhook.Endpoint) *time.Time { return &e.CreatedAt }).fixed(),
	asMillis("updated_at", func(e *webhook.Endpoint) *time.Time { return &e.UpdatedAt }),
	asInteger("version", func(e *webhook.Endpoint) *int64 { return &e.Version }),
)

func (w webhooks) Count(ctx context.Context) (int, error) {
	count, err := w.count(ctx, w.selectFrom(w.table.name))
	return int(count), err
}

func (w webhooks) Add(ctx context.Context, endpoint webhook.Endpoint) error {
	if err := w.stored.Add(ctx, endpoint); err != nil {
		return err
	}
	of := queues{w.session}
	if err := of.add(ctx, endpoint.ID); err != nil || endpoint.Enabled {
		return err
	}
	return of.disable(ctx, endpoint.ID)
}

func (w webhooks) Save(ctx context.Context, endpoint webhook.Endpoint) error {
	before, isLocked := w.locked(endpoint)
	turns := isLocked && before.Enabled != endpoint.Enabled
	if turns {
		if err := (outbox{w.session, w.now}).enqueueAll(ctx); err != nil {
			return err
		}
	}
	err := w.stored.Save(ctx, endpoint)
	switch of := (queues{w.session}); {
	case err != nil || !turns:
		return err
	case endpoint.Enabled:
		return of.enable(ctx, endpoint.ID, w.now)
	default:
		return of.disable(ctx, endpoint.ID)
	}
}

func (w webhooks) Remove(ctx context.Context, which id.Webhook) error {
	if err := w.stored.Remove(ctx, which); err != nil {
		return err
	}
	return queues{w.session}.remove(ctx, which)
}
