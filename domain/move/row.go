package move

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is what the cells of a column are. The schema has no other kinds: amounts of money are whole millionths, instants whole
// milliseconds, JSON is text, and what is sealed is text too.
type Kind string

// The kinds.
const (
	Text    Kind = "text"
	Integer Kind = "integer"
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Table is a table whose rows are moved.
type Table struct {
	Name    string
	Columns []Column // by their names, so that both engines have the same order
	Keyed   []int    // the columns of its key: rows go in the order of it, texts by their bytes
}

// Equal reports whether two tables take the same rows.
func (t Table) Equal(other Table) bool {
	return t.Name == other.Name && slices.Equal(t.Columns, other.Columns) && slices.Equal(t.Keyed, other.Keyed)
}

// Row is a row between two engines. Its cells are in the order of the columns of its table; each is nil, a string or an int64.
type Row []any

// Key returns the cells of a row that are its key.
func (t Table) Key(of Row) Row {
	key := make(Row, len(t.Keyed))
	for n, column := range t.Keyed {
		key[n] = of[column]
	}
	return key
}

// The cells of an encoded row begin with one of these.
const (
	isNull    = 'n'
	isInteger = 'i' // then eight bytes
	isText    = 't' // then its length, then its bytes
)

// Append appends the one encoding that a row has.
func (r Row) Append(to []byte) []byte {
	for _, cell := range r {
		switch cell := cell.(type) {
		case nil:
			to = append(to, isNull)
		case int64:
			to = binary.BigEndian.AppendUint64(append(to, isInteger), uint64(cell))
		case string:
			to = binary.AppendUvarint(append(to, isText), uint64(len(cell)))
			to = append(to, cell...)
		default:
			panic(fmt.Sprintf("a cell of type %T", cell))
		}
	}
	return to
}

var errEncoding = errors.New("the place at which a move was interrupted cannot be read")

// decode is the inverse of Append.
func decode(code []byte) (r Row, err error) {
	for len(code) > 0 {
		kind, rest := code[0], code[1:]
		switch kind {
		case isNull:
			r = append(r, nil)
		case isInteger:
			if len(rest) < 8 {
				return nil, errEncoding
			}
			r = append(r, int64(binary.BigEndian.Uint64(rest)))
			rest = rest[8:]
		case isText:
			length, size := binary.Uvarint(rest)
			if size <= 0 || length > uint64(len(rest)-size) {
				return nil, errEncoding
			}
			rest = rest[size:]
			r = append(r, string(rest[:length]))
			rest = rest[length:]
		default:
			return nil, errEncoding
		}
		code = rest
	}
	return r, nil
}

// Encode returns a key as a place keeps it. Unlike the key itself it is a text whatever its bytes are.
func (r Row) Encode() string { return base64.StdEncoding.EncodeToString(r.Append(nil)) }

// Decode returns the key that a place of the table keeps; nil: there is none.
func (t Table) Decode(kept string) (Row, error) {
	code, err := base64.StdEncoding.DecodeString(kept)
	if err != nil {
		return nil, errEncoding
	}
	key, err := decode(code)
	if err == nil && key != nil && len(key) != len(t.Keyed) {
		err = errEncoding
	}
	return key, err
}

// Size is about how many bytes a row takes.
func (r Row) Size() (bytes int) {
	for _, cell := range r {
		const number = 8
		bytes += number
		if text, isText := cell.(string); isText {
			bytes += len(text)
		}
	}
	return bytes
}

// Compare compares two keys of a table: first those cells that are null, which no key has.
func (r Row) Compare(with Row) int {
	return slices.CompareFunc(r, with, func(a, b any) int {
		if a, isText := a.(string); isText {
			if b, isText := b.(string); isText {
				return strings.Compare(a, b)
			}
		}
		if a, isInteger := a.(int64); isInteger {
			if b, isInteger := b.(int64); isInteger {
				return cmp.Compare(a, b)
			}
		}
		return cmp.Compare(rank(a), rank(b))
	})
}

func rank(cell any) int {
	switch cell.(type) {
	case nil:
		return 0
	case int64:
		return 1
	}
	return 2
}

// RowName words which row of a table it is, by its key.
func (t Table) RowName(key Row) string {
	cells := make([]string, len(key))
	for n, cell := range key {
		text := fmt.Sprint(cell)
		if _, isText := cell.(string); isText {
			text = strconv.Quote(text)
		}
		cells[n] = t.Columns[t.Keyed[n]].Name + " " + text
	}
	return fmt.Sprintf("the row of %s with %s", t.Name, strings.Join(cells, ", "))
}

// CheckText fails, with the name of the row, if a text of it is none that every engine can hold: PostgreSQL takes only UTF-8 without NUL.
func (t Table) CheckText(r Row) error {
	for n, cell := range r {
		text, isText := cell.(string)
		if !isText || utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
			continue
		}
		what := "is not UTF-8"
		if strings.IndexByte(text, 0) >= 0 {
			what = "has a NUL character"
		}
		return fmt.Errorf("%s cannot be moved to PostgreSQL, because its %s %s; undo with \"holdco move --abandon\", "+
			"change or remove it, and move again", t.RowName(t.Key(r)), t.Columns[n].Name, what)
	}
	return nil
}

// Digest is the SHA-256 of the rows of a table in the order of their keys.
type Digest struct{ sum hash.Hash }

// NewDigest begins the digest of the rows of a table.
func (t Table) NewDigest() Digest {
	sum := sha256.New()
	names := make(Row, len(t.Columns))
	for n, column := range t.Columns {
		names[n] = column.Name
	}
	sum.Write(append(names, t.Name).Append(nil))
	return Digest{sum}
}

// Add adds a row, which is encoded.
func (d Digest) Add(code []byte) { d.sum.Write(code) }

// String returns the digest of the rows so far.
func (d Digest) String() string { return fmt.Sprintf("%x", d.sum.Sum(nil)) }
