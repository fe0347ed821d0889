// Package deliveries sends webhooks: README.md explains how. The way in is service.go, whose job starts a worker for each
// queue that is due. Delivery is at least once: an attempt is recorded in the transaction that moves the cursor, and repeated
// if a crash came before that.
package deliveries
