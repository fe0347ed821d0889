package cli_test

import (
	"context"
	"errors"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

// fakeWebhooks holds what was asked for, and answers with webhook number 1 and delivery number 1.
type fakeWebhooks struct {
	caller     access.Caller
	draft      webhook.Draft
	patch      webhook.Patch
	which      id.Webhook
	delivery   id.Delivery
	all        []webhook.Endpoint
	deliveries []webhook.Delivery // of any status
	asked      []inbound.DeliveryList
	fails      error
}

var (
	secret = webhook.NewSecret([32]byte{31: 9})
	hook   = webhook.Endpoint{
		ID: id.New[id.Webhook]([16]byte{15: 1}), URL: "https://example.com/holdco", Events: []webhook.Pattern{"company.created", "company.budget.*"},
		Company: id.New[id.Company]([16]byte{15: 1}), Enabled: true, Description: "To the chat.", CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	goneHook = webhook.Endpoint{
		ID: id.New[id.Webhook]([16]byte{15: 2}), URL: "https://example.com/gone", Events: []webhook.Pattern{webhook.Everything},
		DisabledReason: webhook.Gone, CreatedAt: now.Add(-time.Hour), UpdatedAt: now, Version: 2,
	}
	idleHook = webhook.Endpoint{
		ID: id.New[id.Webhook]([16]byte{15: 3}), URL: "http://example.com", Events: []webhook.Pattern{webhook.Everything}, CreatedAt: now, UpdatedAt: now,
	}
	sent = webhook.Delivery{
		ID: id.New[id.Delivery]([16]byte{15: 1}), Endpoint: hook.ID, Event: id.New[id.Entry]([16]byte{15: 1}),
		Type: event.WebhookTest, Status: webhook.Pending, NextAttemptAt: now, CreatedAt: now,
	}
)

func (f *fakeWebhooks) List(_ context.Context, caller access.Caller, after page.Position, size int) (page.Page[webhook.Endpoint], error) {
	f.caller = caller
	if size != page.MaxSize {
		return page.Page[webhook.Endpoint]{}, errors.New("the pages are small")
	}
	rest := f.all[len(after.Values):]
	return page.Of(rest, 1, func(webhook.Endpoint) page.Position {
		return page.Position{ID: "next", Values: make([]string, len(after.Values)+1)}
	}), f.fails
}

func (f *fakeWebhooks) Get(context.Context, access.Caller, id.Webhook) (webhook.Endpoint, error) {
	return webhook.Endpoint{}, errors.New("nobody asks for one webhook")
}

func (f *fakeWebhooks) Create(
	_ context.Context, caller access.Caller, draft webhook.Draft, _ idempotency.Request,
) (inbound.IssuedWebhook, error) {
	f.caller, f.draft = caller, draft
	return inbound.IssuedWebhook{Endpoint: hook, Secret: secret}, f.fails
}

func (f *fakeWebhooks) Update(
	_ context.Context, caller access.Caller, which id.Webhook, patch webhook.Patch, match precondition.Match,
) (webhook.Endpoint, error) {
	f.caller, f.which, f.patch = caller, which, patch
	if match.Demanded {
		return webhook.Endpoint{}, errors.New("the command line demands a version")
	}
	return hook, f.fails
}

func (f *fakeWebhooks) Delete(_ context.Context, caller access.Caller, which id.Webhook, match precondition.Match) (webhook.Endpoint, error) {
	return f.Update(context.Background(), caller, which, webhook.Patch{}, match)
}

func (f *fakeWebhooks) RotateSecret(
	_ context.Context, caller access.Caller, which id.Webhook, _ idempotency.Request,
) (inbound.IssuedWebhook, error) {
	f.caller, f.which = caller, which
	return inbound.IssuedWebhook{Endpoint: hook, Secret: secret}, f.fails
}

func (f *fakeWebhooks) Test(_ context.Context, caller access.Caller, which id.Webhook, _ idempotency.Request) (webhook.Delivery, error) {
	f.caller, f.which = caller, which
	return sent, f.fails
}

func (f *fakeWebhooks) Deliveries(_ context.Context, caller access.Caller, list inbound.DeliveryList) (page.Page[webhook.Delivery], error) {
	f.caller, f.asked = caller, append(f.asked, list)
	rest := f.deliveries[len(list.After.Values):]
	return page.Of(rest, list.Size, func(webhook.Delivery) page.Position {
		return page.Position{ID: "next", Values: make([]string, len(list.After.Values)+list.Size)}
	}), f.fails
}

func (f *fakeWebhooks) Redeliver(
	_ context.Context, caller access.Caller, which id.Webhook, delivery id.Delivery, _ idempotency.Request,
) (webhook.Delivery, error) {
	f.caller, f.which, f.delivery = caller, which, delivery
	return sent, f.fails
}
