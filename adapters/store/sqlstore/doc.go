// Package sqlstore implements ports/store in SQL, once for every engine, with bun. All that differs between engines is in
// the interface Engine.
//
// Start with store.go, which has the store and its unit of work. Each aggregate has a file of its own with its row, the
// queries, and the mapping between the row and the domain. The schemas live with the engines.
package sqlstore
