// Package sqlite is the engine that keeps the store in one SQLite file: no server, nothing to set up.
//
// One connection writes, a pool of others reads; the write-ahead log gives each reader a snapshot while the writer goes
// on. Units of work that wait are committed together, so that durability costs one sync per batch: see writer.go.
// Queries live in package sqlstore; this package has what only SQLite needs. Start with Open.
package sqlite
