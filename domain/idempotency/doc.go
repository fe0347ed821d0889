// Package idempotency makes retries of requests safe: the first successful answer is stored under the idempotency key
// of the client, and a retry gets it again.
package idempotency
