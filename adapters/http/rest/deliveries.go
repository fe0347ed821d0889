package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

func (h webhooks) deliveries(r httpkit.Request) (httpkit.Answer, error) {
	list := inbound.DeliveryList{Endpoint: httpkit.PathID[id.Webhook](r, "id"), Status: webhook.Status(r.Query()["status"])}
	query := "deliveries webhook=" + string(list.Endpoint) + " status=" + string(list.Status)
	return httpkit.List(r, query, func(after page.Position, size int) (page.Page[webhook.Delivery], error) {
		list.After, list.Size = after, size
		return h.port.Deliveries(r.Context(), r.Caller(), list)
	})
}

func (h webhooks) delivery(r httpkit.Request) (httpkit.Answer, error) {
	which, delivery := httpkit.PathID[id.Webhook](r, "id"), httpkit.PathID[id.Delivery](r, "deliveryId")
	found, err := h.port.Delivery(r.Context(), r.Caller(), which, delivery)
	return httpkit.Answer{Data: found.Fields()}, err
}

func (h webhooks) test(r httpkit.Request) (httpkit.Answer, error) {
	which, once := httpkit.PathID[id.Webhook](r, "id"), httpkit.Once(r, deliveryAnswer)
	made, err := h.port.Test(r.Context(), r.Caller(), which, once)
	return deliveryAnswer(made), err
}

func (h webhooks) redeliver(r httpkit.Request) (httpkit.Answer, error) {
	which, once := httpkit.PathID[id.Webhook](r, "id"), httpkit.Once(r, deliveryAnswer)
	next, err := h.port.Redeliver(r.Context(), r.Caller(), which, httpkit.PathID[id.Delivery](r, "deliveryId"), once)
	return deliveryAnswer(next), err
}

func deliveryAnswer(d webhook.Delivery) httpkit.Answer {
	return httpkit.Answer{Status: httpkit.Accepted, Data: d.Fields()}
}
