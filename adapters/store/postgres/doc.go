// Package postgres is the engine that stores everything in a PostgreSQL database, for one replica of the server or many.
//
// A unit of work is one transaction at isolation level SERIALIZABLE, in the turn of a company at REPEATABLE READ, which is retried
// after a serialization failure. If the server fails, calls fail within seconds; they succeed again when it is back, without a
// restart of this program.
//
// Queries live in package sqlstore; this package has what only PostgreSQL needs. Start with Open.
package postgres
