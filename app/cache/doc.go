// Package cache holds what use cases remember between requests, so that not every request costs an access to the store.
package cache
