// Package webhooks holds the use cases of webhook endpoints, one file each: making and changing them, and what can be
// asked of their deliveries. Sending is the work of app/deliveries.
package webhooks
