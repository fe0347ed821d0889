package rest

import (
	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

// webhooks answers the operations on webhooks. Those on deliveries are in deliveries.go.
type webhooks struct{ port inbound.Webhooks }

// ListWebhooks answers GET /v1/webhooks.
func (h webhooks) ListWebhooks(c *gin.Context, params ListWebhooksParams) {
	const query = "webhooks"
	after, size, err := pageAfter(query, params.Cursor, params.Limit)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	found, err := h.port.List(c.Request.Context(), httpkit.CallerOf(c), after, size)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, listAnswer(query, size, found, webhookView))
}

// CreateWebhook answers POST /v1/webhooks.
func (h webhooks) CreateWebhook(c *gin.Context, _ CreateWebhookParams) {
	once := httpkit.Once(c, func(shown webhook.Endpoint) httpkit.Answer {
		return newWebhookAnswer(inbound.IssuedWebhook{Endpoint: shown})
	})
	issued, err := h.port.Create(c.Request.Context(), httpkit.CallerOf(c), webhookDraftOf(c), once)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, newWebhookAnswer(issued))
}

// GetWebhook answers GET /v1/webhooks/{id}.
func (h webhooks) GetWebhook(c *gin.Context, which WebhookID, _ GetWebhookParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	found, err := h.port.Get(c.Request.Context(), httpkit.CallerOf(c), webhookID)
	h.answer(c, found, err)
}

// UpdateWebhook answers PATCH /v1/webhooks/{id}.
func (h webhooks) UpdateWebhook(c *gin.Context, which WebhookID, _ UpdateWebhookParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	next, err := h.port.Update(c.Request.Context(), httpkit.CallerOf(c), webhookID, webhookPatchOf(c), httpkit.MatchOf(c))
	h.answer(c, next, err)
}

// DeleteWebhook answers DELETE /v1/webhooks/{id}.
func (h webhooks) DeleteWebhook(c *gin.Context, which WebhookID, _ DeleteWebhookParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	last, err := h.port.Delete(c.Request.Context(), httpkit.CallerOf(c), webhookID, httpkit.MatchOf(c))
	h.answer(c, last, err)
}

// RotateWebhookSecret answers POST /v1/webhooks/{id}/rotate-secret.
func (h webhooks) RotateWebhookSecret(c *gin.Context, which WebhookID, _ RotateWebhookSecretParams) {
	webhookID, _ := id.Parse[id.Webhook](which)
	once := httpkit.Once(c, func(shown webhook.Endpoint) httpkit.Answer {
		return issuedWebhookAnswer(inbound.IssuedWebhook{Endpoint: shown})
	})
	issued, err := h.port.RotateSecret(c.Request.Context(), httpkit.CallerOf(c), webhookID, once)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, issuedWebhookAnswer(issued))
}

// answer shows one webhook, or why not.
func (h webhooks) answer(c *gin.Context, shown webhook.Endpoint, err error) {
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, issuedWebhookAnswer(inbound.IssuedWebhook{Endpoint: shown}))
}

func webhookDraftOf(c *gin.Context) webhook.Draft {
	sent, problems := httpkit.Decode[WebhookDraft](httpkit.BodyOf(c))
	return webhook.Draft{
		Company:  sent.CompanyID,
		Settings: webhook.Settings{URL: sent.URL, Events: sent.Events, Enabled: sent.Enabled, Description: sent.Description},
		Problems: problems,
	}
}

func webhookPatchOf(c *gin.Context) webhook.Patch {
	sent, problems := httpkit.Decode[WebhookPatch](httpkit.BodyOf(c))
	return webhook.Patch{
		Settings: webhook.Settings{URL: sent.URL, Events: sent.Events, Enabled: sent.Enabled, Description: sent.Description},
		Problems: problems,
	}
}

func newWebhookAnswer(issued inbound.IssuedWebhook) httpkit.Answer {
	answer := issuedWebhookAnswer(issued)
	answer.Status, answer.Location = httpkit.Created, "/v1/webhooks/"+string(issued.Endpoint.ID)
	return answer
}

// issuedWebhookAnswer shows a webhook with its secret, unless that is left out.
func issuedWebhookAnswer(issued inbound.IssuedWebhook) httpkit.Answer {
	view := webhookView(issued.Endpoint)
	if secret := string(issued.Secret); secret != "" {
		view.Secret = &secret
	}
	return httpkit.Answer{Data: view, ETag: httpkit.VersionTag(issued.Endpoint.Version)}
}

func webhookView(e webhook.Endpoint) Webhook {
	view := Webhook{
		ID:          string(e.ID),
		URL:         e.URL,
		Events:      webhook.Names(e.Events),
		Enabled:     e.Enabled,
		Description: e.Description,
		CreatedAt:   instant.Format(e.CreatedAt),
		UpdatedAt:   instant.Format(e.UpdatedAt),
	}
	if e.Company != "" {
		company := string(e.Company)
		view.CompanyID = &company
	}
	if e.DisabledReason != "" {
		view.DisabledReason = &e.DisabledReason
	}
	return view
}
