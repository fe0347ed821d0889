// Package webhooks holds the use cases of webhook endpoints, one file each: creating and changing them, testing them,
// and their deliveries. Package app/deliveries does the sending.
package webhooks
