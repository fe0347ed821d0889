// Package prices has the use cases on the price table of the instance. What charges go by is cached beside it, in app/cache.
package prices
