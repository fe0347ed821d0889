// Package webhook holds the rules of webhooks: where events are sent (Endpoint), which ones (Pattern), what is sent
// (Message), under which secret, when an attempt is repeated and when an endpoint is given up (Delivery, Queue).
//
// What goes over the wire follows Standard Webhooks, https://www.standardwebhooks.com.
package webhook
