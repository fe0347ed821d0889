// Package instant formats times as the public API does: RFC 3339, UTC, milliseconds.
package instant
