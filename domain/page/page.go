package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"holdco/domain/fault"
)

// The size of a page: MinSize to MaxSize rows, by default DefaultSize.
const (
	MinSize     = 1
	DefaultSize = 50
	MaxSize     = 200
)

// Position is where a row stands in a sorted list: its sort values, one for each column that the list is sorted by, then
// its id, which breaks ties. The zero value is the start, before the first row.
type Position struct {
	Values []string
	ID     string
}

// IsStart reports whether p is before the first row.
func (p Position) IsStart() bool { return p.ID == "" }

// Page is one page of a list. Next is the position where the next page starts; on the last page it is the start
// position.
type Page[T any] struct {
	Items []T
	Next  Position
}

// Of makes a page of at most size rows. rows has one row more when there is a next page.
func Of[T any](rows []T, size int, position func(T) Position) Page[T] {
	if len(rows) <= size {
		return Page[T]{Items: rows}
	}
	rows = rows[:size]
	return Page[T]{Items: rows, Next: position(rows[size-1])}
}

const (
	separator   = "\x00"
	sealLength  = 12
	longestText = 4096
)

// ErrForeign refuses a position that the list cannot have: somebody made its cursor.
var ErrForeign = fault.New(fault.InvalidCursor, "The cursor was not issued for this list; start again without it.")

// Cursor encodes a position for clients. It is bound to query, which names the list and its filters. The start position
// is "".
func Cursor(query string, p Position) string {
	if p.IsStart() {
		return ""
	}
	payload := []byte(strings.Join(append([]string{p.ID}, p.Values...), separator))
	return base64.RawURLEncoding.EncodeToString(append(seal(query, payload), payload...))
}

// ParseCursor decodes what Cursor encoded for the same query. "" is the start position. Anything else fails with
// fault.InvalidCursor.
func ParseCursor(query, cursor string) (Position, error) {
	if cursor == "" {
		return Position{}, nil
	}
	if len(cursor) <= longestText && !strings.ContainsAny(cursor, "\r\n") { // base64 would ignore line breaks
		raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
		if err == nil && len(raw) > sealLength {
			sealed, payload := raw[:sealLength], raw[sealLength:]
			if bytes.Equal(sealed, seal(query, payload)) && utf8.Valid(payload) {
				parts := strings.Split(string(payload), separator)
				return Position{ID: parts[0], Values: parts[1:]}, nil
			}
		}
	}
	return Position{}, fault.New(fault.InvalidCursor,
		"The cursor was not issued for this list with these filters; start again without it.")
}

// seal is a checksum that rejects a mangled cursor and one of another list. It is not a secret: a forged position shows
// nothing that the list would not.
func seal(query string, payload []byte) []byte {
	sum := sha256.Sum256([]byte(query + separator + string(payload)))
	return sum[:sealLength]
}
