// Package sqlstore keeps everything in SQL: it implements ports/store once, on bun, for every engine. What differs
// between engines is in Engine, and nowhere else.
//
// Start with store.go, which has the store and its unit of work. Each aggregate has a file of its own with its row, the
// queries, and the mapping between the row and the domain. The schemas live with the engines.
package sqlstore
