// Package webhook is the rules of webhooks: where events are sent (Endpoint), which ones (Pattern), what is sent
// (Message) and how it is signed (Secret), when an attempt is retried and when an endpoint is disabled (Delivery,
// Queue).
//
// Messages follow Standard Webhooks, https://www.standardwebhooks.com.
package webhook
