// Package receipts throws away the kept answers of requests whose idempotency keys have expired.
package receipts
