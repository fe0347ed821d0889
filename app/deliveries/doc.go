// Package deliveries sends webhooks. A job gives new events their positions in the outbox and wakes the endpoints that
// want them (fanout.go), claims the queues that are due and starts a worker for each (service.go). A worker reads ahead in
// its queue (read.go), makes attempts in parallel, but of first attempts about one subject only one at a time
// (worker.go, backlog.go, attempt.go), and records what came of them in batches (record.go). Further jobs purge old
// deliveries (purge.go) and what removed companies have left behind (removals.go).
//
// The unit that records an attempt moves the cursor, so a crash at any point loses nothing: what was not recorded is sent
// again. An event may be sent twice then, never less than once.
package deliveries
