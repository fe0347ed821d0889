package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

type webhooks struct{ port inbound.Webhooks }

// Webhooks handles the operations on webhooks and on deliveries.
func Webhooks(port inbound.Webhooks) httpkit.Handlers {
	h := webhooks{port}
	return httpkit.Handlers{
		"listWebhooks":        h.list,
		"createWebhook":       h.create,
		"getWebhook":          h.get,
		"updateWebhook":       h.update,
		"deleteWebhook":       h.delete,
		"rotateWebhookSecret": h.rotateSecret,
		"testWebhook":         h.test,
		"listDeliveries":      h.deliveries,
		"getDelivery":         h.delivery,
		"redeliver":           h.redeliver,
	}
}

func (h webhooks) list(r httpkit.Request) (httpkit.Answer, error) {
	return httpkit.List(r, "webhooks", func(after page.Position, size int) (page.Page[webhook.Endpoint], error) {
		return h.port.List(r.Context(), r.Caller(), after, size)
	})
}

func (h webhooks) create(r httpkit.Request) (httpkit.Answer, error) {
	once := httpkit.Once(r, func(shown webhook.Endpoint) httpkit.Answer { return newWebhookAnswer(shown) })
	issued, err := h.port.Create(r.Context(), r.Caller(), webhookDraft(r), once)
	return newWebhookAnswer(issued.Endpoint, event.F("secret", string(issued.Secret))), err
}

func (h webhooks) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), httpkit.PathID[id.Webhook](r, "id"))
	return webhookAnswer(found), err
}

func (h webhooks) update(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Update(r.Context(), r.Caller(), httpkit.PathID[id.Webhook](r, "id"), webhookPatch(r), r.Match())
	return webhookAnswer(next), err
}

func (h webhooks) delete(r httpkit.Request) (httpkit.Answer, error) {
	last, err := h.port.Delete(r.Context(), r.Caller(), httpkit.PathID[id.Webhook](r, "id"), r.Match())
	return webhookAnswer(last), err
}

func (h webhooks) rotateSecret(r httpkit.Request) (httpkit.Answer, error) {
	once := httpkit.Once(r, func(shown webhook.Endpoint) httpkit.Answer { return webhookAnswer(shown) })
	issued, err := h.port.RotateSecret(r.Context(), r.Caller(), httpkit.PathID[id.Webhook](r, "id"), r.Match(), once)
	return webhookAnswer(issued.Endpoint, event.F("secret", string(issued.Secret))), err
}

func webhookDraft(r httpkit.Request) webhook.Draft {
	sent, problems := httpkit.Body[WebhookDraft](r)
	return webhook.Draft{
		Company:  sent.CompanyID,
		Settings: webhook.Settings{URL: sent.URL, Events: sent.Events, Enabled: sent.Enabled, Description: sent.Description},
		Problems: problems,
	}
}

func webhookPatch(r httpkit.Request) webhook.Patch {
	sent, problems := httpkit.Body[WebhookPatch](r)
	return webhook.Patch{
		Settings: webhook.Settings{URL: sent.URL, Events: sent.Events, Enabled: sent.Enabled, Description: sent.Description},
		Problems: problems,
	}
}

func webhookAnswer(e webhook.Endpoint, secret ...event.Field) httpkit.Answer {
	return httpkit.Answer{Data: append(e.Fields(), secret...), ETag: httpkit.VersionTag(e.Version)}
}

func newWebhookAnswer(e webhook.Endpoint, secret ...event.Field) httpkit.Answer {
	return webhookAnswer(e, secret...).At("/v1/webhooks/" + string(e.ID))
}
