// Package deliveries sends webhooks: it puts events into the outbox and wakes the endpoints that want them (spread.go),
// hands the queues that are due to senders of their own (service.go), works through one queue (sender.go), and throws the
// old log of deliveries away (purge.go).
//
// A cursor moves on in the unit that writes down what came of the attempt, so a crash at any point loses nothing: an event
// may be sent twice then, never less than once.
package deliveries
