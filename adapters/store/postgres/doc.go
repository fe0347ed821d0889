// Package postgres is the engine that keeps the store in a PostgreSQL database, for one replica of the server or many.
//
// A unit of work is one serializable transaction that is tried again when it gets in the way of another. Whatever goes
// wrong with the server ends within seconds, and needs no restart of this program. Queries live in package sqlstore;
// this package has what only PostgreSQL needs. Start with Open.
package postgres
