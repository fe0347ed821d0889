package rest

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

// ListDeliveries answers GET /v1/webhooks/{id}/deliveries.
func (h webhooks) ListDeliveries(c *gin.Context, which WebhookID, params ListDeliveriesParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	list := inbound.DeliveryList{Endpoint: webhookID}
	if params.Status != nil {
		list.Status = webhook.Status(*params.Status)
	}
	query := fmt.Sprintf("deliveries webhook=%s status=%s", list.Endpoint, list.Status)
	var err error
	if list.After, list.Size, err = pageAfter(query, params.Cursor, params.Limit); err != nil {
		httpkit.Fail(c, err)
		return
	}
	found, err := h.port.Deliveries(c.Request.Context(), httpkit.CallerOf(c), list)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, listAnswer(query, list.Size, found, deliveryView))
}

// TestWebhook answers POST /v1/webhooks/{id}/test.
func (h webhooks) TestWebhook(c *gin.Context, which WebhookID, _ TestWebhookParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	once := httpkit.Once(c, deliveryAnswer)
	made, err := h.port.Test(c.Request.Context(), httpkit.CallerOf(c), webhookID, once)
	h.answerDelivery(c, made, err)
}

// Redeliver answers POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver.
func (h webhooks) Redeliver(c *gin.Context, which WebhookID, again DeliveryID, _ RedeliverParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	deliveryID, _ := id.Parse[id.Delivery](again)
	once := httpkit.Once(c, deliveryAnswer)
	next, err := h.port.Redeliver(c.Request.Context(), httpkit.CallerOf(c), webhookID, deliveryID, once)
	h.answerDelivery(c, next, err)
}

// answerDelivery shows one delivery that is on its way, or why not.
func (h webhooks) answerDelivery(c *gin.Context, shown webhook.Delivery, err error) {
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, deliveryAnswer(shown))
}

func deliveryAnswer(d webhook.Delivery) httpkit.Answer {
	return httpkit.Answer{Status: httpkit.Accepted, Data: deliveryView(d)}
}

func deliveryView(d webhook.Delivery) Delivery {
	return Delivery{
		ID:            string(d.ID),
		WebhookID:     string(d.Endpoint),
		EventID:       string(d.Event),
		Type:          string(d.Type),
		Status:        string(d.Status),
		Attempts:      each(d.Attempts, attemptView),
		NextAttemptAt: instant.Optional(d.NextAttemptAt),
		CreatedAt:     instant.Format(d.CreatedAt),
	}
}

// attemptView shows an attempt. Of the status and the error one is null.
func attemptView(a webhook.Attempt) Attempt {
	view := Attempt{At: instant.Format(a.At), LatencyMs: int(a.Latency.Milliseconds()), Response: a.Response}
	if a.Status != 0 {
		view.Status = &a.Status
	} else {
		view.Error = &a.Error
	}
	return view
}
