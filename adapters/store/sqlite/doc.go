// Package sqlite is the engine that stores everything in one SQLite file: no server, nothing to set up.
//
// One connection writes, pools of others read; the write-ahead log gives each reader a snapshot while the writer
// continues. Units of work that wait are committed together (group commit), so that durability costs one sync per batch:
// see writer.go.
// Queries live in package sqlstore; this package has what only SQLite needs. Start with Open.
package sqlite
