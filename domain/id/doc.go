// Package id has the typed identifiers of everything that Holdco stores.
//
// An id is a prefix for its kind, an underscore, and a UUIDv7 as 26 lower-case characters of Crockford's base 32: a
// TypeID (https://github.com/jetify-com/typeid, specification 0.3). Ids of one kind sort by the time at which they were
// made. A port supplies the random bytes.
package id
