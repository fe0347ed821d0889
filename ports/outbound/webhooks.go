package outbound

import (
	"context"

	"holdco/domain/webhook"
)

// WebhookPoster sends the requests of webhooks.
type WebhookPoster interface {
	// Post signs a message, posts it, and returns the outcome, after webhook.Timeout at most. Errors are part of the
	// attempt. Canceling the context cancels the request.
	Post(ctx context.Context, message webhook.Message) webhook.Attempt
}
