// Package id holds the typed identifiers of everything that Holdco keeps.
//
// An id is a prefix that tells its kind, an underscore, and 26 characters of Crockford's base 32 in lower case that
// spell a UUIDv7: a TypeID (https://github.com/jetify-com/typeid, specification 0.3). Ids of one kind sort by the time
// they were made. They are made from bytes that a port supplies; this package draws none.
package id
