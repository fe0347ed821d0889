package rest_test

import (
	"context"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

func webhookID(n int) id.Webhook   { return id.New[id.Webhook](uuid(n)) }
func deliveryID(n int) id.Delivery { return id.New[id.Delivery](uuid(n)) }

// fakeWebhooks sends nothing: what becomes of a delivery is for the test to say.
type fakeWebhooks struct {
	*ledger
	all        []webhook.Endpoint // newest first
	deliveries []webhook.Delivery // newest first
	full       bool               // there are as many as there can be
	sawList    inbound.DeliveryList
}

func (f *fakeWebhooks) List(_ context.Context, _ access.Caller, after page.Position, size int) (page.Page[webhook.Endpoint], error) {
	var rows []webhook.Endpoint
	for _, endpoint := range f.all {
		if after.IsStart() || string(endpoint.ID) < after.ID {
			rows = append(rows, endpoint)
		}
	}
	return page.Of(rows, size, func(endpoint webhook.Endpoint) page.Position { return page.Position{ID: string(endpoint.ID)} }), nil
}

func (f *fakeWebhooks) Get(_ context.Context, _ access.Caller, which id.Webhook) (webhook.Endpoint, error) {
	endpoint, err := f.find(which)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return *endpoint, nil
}

func (f *fakeWebhooks) find(which id.Webhook) (*webhook.Endpoint, error) {
	for i := range f.all {
		if f.all[i].ID == which {
			return &f.all[i], nil
		}
	}
	return nil, fault.New(fault.NotFound, "There is no such webhook.")
}

func (f *fakeWebhooks) Create(
	_ context.Context, _ access.Caller, draft webhook.Draft, request idempotency.Request,
) (inbound.IssuedWebhook, error) {
	return once(f.ledger, request, func() (inbound.IssuedWebhook, error) {
		resolve := func(which id.Company) (bool, error) { return which == companyID(1), nil }
		endpoint, _, err := webhook.New(webhookID(len(f.all)+1), draft, "sealed", resolve, start)
		if err != nil {
			return inbound.IssuedWebhook{}, err
		}
		if f.full {
			return inbound.IssuedWebhook{}, fault.New(fault.WebhookLimit, "There are %d webhooks, as many as there can be.", webhook.MostEndpoints)
		}
		f.all = append([]webhook.Endpoint{endpoint}, f.all...)
		return inbound.IssuedWebhook{Endpoint: endpoint, Secret: webhook.NewSecret([32]byte{1})}, nil
	})
}

func (f *fakeWebhooks) Update(
	_ context.Context, _ access.Caller, which id.Webhook, patch webhook.Patch, match precondition.Match,
) (webhook.Endpoint, error) {
	endpoint, err := f.matching(which, match)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	next, _, err := endpoint.Apply(patch, start.Add(time.Minute))
	if err == nil {
		*endpoint = next
	}
	return next, err
}

func (f *fakeWebhooks) Delete(_ context.Context, _ access.Caller, which id.Webhook, match precondition.Match) (webhook.Endpoint, error) {
	endpoint, err := f.matching(which, match)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	last := *endpoint
	f.all = slices.DeleteFunc(f.all, func(endpoint webhook.Endpoint) bool { return endpoint.ID == which })
	return last, nil
}

func (f *fakeWebhooks) matching(which id.Webhook, match precondition.Match) (*webhook.Endpoint, error) {
	endpoint, err := f.find(which)
	if err != nil {
		return nil, err
	}
	return endpoint, match.Check(endpoint.Version)
}

func (f *fakeWebhooks) RotateSecret(
	_ context.Context, _ access.Caller, which id.Webhook, request idempotency.Request,
) (inbound.IssuedWebhook, error) {
	return once(f.ledger, request, func() (inbound.IssuedWebhook, error) {
		endpoint, err := f.find(which)
		if err != nil {
			return inbound.IssuedWebhook{}, err
		}
		*endpoint, _ = endpoint.RotateSecret("sealed anew", start.Add(time.Minute))
		return inbound.IssuedWebhook{Endpoint: *endpoint, Secret: webhook.NewSecret([32]byte{2})}, nil
	})
}

func (f *fakeWebhooks) Test(_ context.Context, _ access.Caller, which id.Webhook, request idempotency.Request) (webhook.Delivery, error) {
	return once(f.ledger, request, func() (webhook.Delivery, error) {
		endpoint, err := f.find(which)
		if err != nil {
			return webhook.Delivery{}, err
		}
		if err := endpoint.Takes("test"); err != nil {
			return webhook.Delivery{}, err
		}
		test := endpoint.Test()
		test.ID = id.New[id.Entry](uuid(len(f.deliveries) + 1))
		made := webhook.NewDelivery(deliveryID(len(f.deliveries)+1), which, test, start)
		f.deliveries = append([]webhook.Delivery{made}, f.deliveries...)
		return made, nil
	})
}

func (f *fakeWebhooks) Deliveries(_ context.Context, _ access.Caller, list inbound.DeliveryList) (page.Page[webhook.Delivery], error) {
	f.sawList = list
	if _, err := f.find(list.Endpoint); err != nil {
		return page.Page[webhook.Delivery]{}, err
	}
	var rows []webhook.Delivery
	for _, d := range f.deliveries {
		if (list.After.IsStart() || string(d.ID) < list.After.ID) && (list.Status == "" || d.Status == list.Status) && d.Endpoint == list.Endpoint {
			rows = append(rows, d)
		}
	}
	return page.Of(rows, list.Size, func(d webhook.Delivery) page.Position { return page.Position{ID: string(d.ID)} }), nil
}

func (f *fakeWebhooks) Redeliver(
	_ context.Context, _ access.Caller, which id.Webhook, again id.Delivery, request idempotency.Request,
) (webhook.Delivery, error) {
	return once(f.ledger, request, func() (webhook.Delivery, error) {
		endpoint, err := f.find(which)
		if err != nil {
			return webhook.Delivery{}, err
		}
		for i, d := range f.deliveries {
			if d.ID == again && d.Endpoint == which {
				if err := endpoint.Takes("redeliver"); err != nil {
					return webhook.Delivery{}, err
				}
				f.deliveries[i] = d.Redeliver(start.Add(time.Hour))
				return f.deliveries[i], nil
			}
		}
		return webhook.Delivery{}, fault.New(fault.NotFound, "There is no such delivery.")
	})
}
