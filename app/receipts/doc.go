// Package receipts purges the stored answers of requests whose idempotency keys have expired.
package receipts
