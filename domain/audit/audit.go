// Package audit is the chain of the activity log, by which anyone can see that no entry was changed, removed or inserted.
//
// Each entry of a company has a number, from 1 on without gaps, and a hash over the hash before it and its own canonical form; the
// entries that belong to no company are a chain of their own. What is hashed is in each line of an export, so that no more than
// SHA-256 and a parser of JSON is needed to follow it.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Hash is the SHA-256 of a chain up to an entry. The zero value is before the first.
type Hash [sha256.Size]byte

// String spells a hash in 64 lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String spells.
func ParseHash(text string) (h Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) || hex.EncodeToString(raw) != text {
		return h, errors.New("a hash must be 64 lower-case hexadecimal digits")
	}
	return Hash(raw), nil
}

// Link is where an entry stands in its chain.
type Link struct {
	Number int64 // from 1 on, without gaps
	Hash   Hash
}

// Next is the link of an entry, by its canonical form, that comes after l. The zero Link is before the first.
func (l Link) Next(canonical []byte) Link {
	return Link{l.Number + 1, sha256.Sum256(append(l.Hash[:], canonical...))}
}

// hashed are the members of an entry that are hashed, sorted. The others follow from them.
var hashed = []string{"action", "actor", "at", "companyId", "id", "payload", "subject"}

// Canonical returns the canonical form of an entry that is a JSON object, as the API and exports show it. It is a JSON object with
// the members action, actor, at, companyId, id, payload and subject:
//
//   - in UTF-8, without white space between tokens;
//   - members sorted by the bytes of their names, in objects within too; a member that is missing is null;
//   - numbers as they are written;
//   - in strings only these are escaped: the quotation mark and the backslash by a backslash, and what is less than U+0020, as \b, \t,
//     \n, \f, \r, or else \u and four lower-case hexadecimal digits. What is not UTF-8 is U+FFFD.
func Canonical(entry []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(entry))
	decoder.UseNumber()
	var found map[string]any
	if err := decoder.Decode(&found); err != nil {
		return nil, fmt.Errorf("an entry must be a JSON object: %w", err)
	}
	if found == nil {
		return nil, errors.New("an entry must be a JSON object, not null")
	}
	form := make([]byte, 0, len(entry))
	for n, name := range hashed {
		form = append(appendString(append(form, "{,"[min(n, 1)]), name), ':')
		form = appendValue(form, found[name])
	}
	return append(form, '}'), nil
}

// appendValue appends what a decoder with UseNumber makes of JSON.
func appendValue(form []byte, value any) []byte {
	switch value := value.(type) {
	case string:
		return appendString(form, value)
	case json.Number:
		return append(form, value...)
	case bool:
		return fmt.Append(form, value)
	case []any:
		form = append(form, '[')
		for n, item := range value {
			if n > 0 {
				form = append(form, ',')
			}
			form = appendValue(form, item)
		}
		return append(form, ']')
	case map[string]any:
		form = append(form, '{')
		for n, name := range slices.Sorted(maps.Keys(value)) {
			if n > 0 {
				form = append(form, ',')
			}
			form = appendValue(append(appendString(form, name), ':'), value[name])
		}
		return append(form, '}')
	}
	return append(form, "null"...)
}

func appendString(form []byte, text string) []byte {
	form = append(form, '"')
	for _, r := range text {
		switch short := bytes.IndexByte([]byte("\b\t\n\f\r"), byte(min(r, utf8.RuneSelf))); {
		case r == '"' || r == '\\':
			form = append(form, '\\', byte(r))
		case short >= 0:
			form = append(form, '\\', "btnfr"[short])
		case r < ' ':
			form = fmt.Appendf(form, `\u%04x`, r)
		default:
			form = utf8.AppendRune(form, r)
		}
	}
	return append(form, '"')
}

// Harm is what happened to a chain.
type Harm string

// What can happen to a chain. A link that is missing together with its entry is Removed.
const (
	Changed  Harm = "changed"
	Removed  Harm = "removed"
	Inserted Harm = "inserted"
)

// Finding is the first entry at which a chain is harmed. It is an error.
type Finding struct {
	Harm   Harm
	Number int64  // of the entry, or where it should be; 0: it has none
	Entry  string // the id; empty: it is not known
}

// Error says what happened to which entry.
func (f Finding) Error() string {
	text := "an entry was " + string(f.Harm)
	if f.Entry != "" {
		text = "the entry " + f.Entry + " was " + string(f.Harm)
	}
	if f.Number > 0 {
		text += fmt.Sprintf(", number %d of its chain", f.Number)
	}
	return text
}

// Item is an entry with the link that was recorded for it.
type Item struct {
	ID        string
	Link      Link   // zero: there is none
	Canonical []byte // nil: the entry is not there
}
