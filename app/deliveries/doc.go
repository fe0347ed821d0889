// Package deliveries sends webhooks. A job enqueues new events, which gives them their positions in the outbox, and
// wakes the queues of the endpoints that want them (fanout.go). It claims the queues that are due and starts a worker
// for each (service.go). A worker reads ahead in its queue (read.go), makes attempts in parallel, except that it makes
// first attempts about one subject one at a time (worker.go, backlog.go, attempt.go), and records the results in
// batches (record.go). Other jobs purge old deliveries (purge.go) and the data of removed companies (removals.go).
//
// An attempt is recorded in the same transaction that moves the cursor. After a crash, attempts that were not recorded
// are repeated: delivery is at least once.
package deliveries
