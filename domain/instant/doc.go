// Package instant spells points in time the way the public API does: RFC 3339, UTC, whole milliseconds.
package instant
