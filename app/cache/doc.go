// Package cache caches what use cases need on every request, and batches the last uses of credentials, so that
// authentication does not access the store on every request.
package cache
