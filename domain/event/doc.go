// Package event is what happened: an event is an entry of the activity log (audit), and the content of a webhook.
package event
