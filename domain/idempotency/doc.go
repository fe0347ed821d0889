// Package idempotency lets a client repeat a request without repeating its effect: the first successful answer is kept
// under the client's key and given again.
package idempotency
