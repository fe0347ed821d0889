package sqlstore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// leadEntryRow is a lead as the export reads it, in one text: a line of words, with a space between each two, and the
// document.
type leadEntryRow struct {
	bun.BaseModel `bun:"table:lead_entries"`

	Key   int64  `bun:"key,pk"`
	Entry string `bun:"entry"`
}

func (r *leadEntryRow) columns() []any { return []any{&r.Key, &r.Entry} }

func leadEntryRowOf(kept lead.Kept, key, revision int64) leadEntryRow {
	const usual = 256 // bytes of a line, at most
	line := strconv.AppendInt(make([]byte, 0, usual), key, 10)
	line = strconv.AppendInt(append(line, ' '), revision, 10)
	line = strconv.AppendInt(append(line, ' '), millis(kept.UpdatedAt), 10)
	line = append(line, ' ')
	if !kept.MovedFrom.IsZero() {
		line = strconv.AppendInt(line, millis(kept.MovedFrom), 10)
	}
	line = append(append(line, ' '), kept.ID...)
	line = append(append(line, ' '), kept.Industry...)
	line = append(append(line, ' '), kept.Vertical...)
	line = strconv.AppendInt(append(line, ' '), int64(len(kept.Document.Head)), 10)

	var entry strings.Builder
	entry.Grow(len(line) + len("\n") + len(kept.Document.Head) + len(kept.Document.Tail))
	entry.Write(line)
	entry.WriteByte('\n')
	entry.WriteString(kept.Document.Head)
	entry.WriteString(kept.Document.Tail)
	return leadEntryRow{Key: key, Entry: entry.String()}
}

// parseEntry reads what leadEntryRowOf wrote.
func parseEntry(text string) (store.KeyedLead, error) {
	line, document, _ := strings.Cut(text, "\n")
	var words [8]string
	for i := range words {
		words[i], line, _ = strings.Cut(line, " ")
	}
	damaged := false
	number := func(word string) int64 {
		n, err := strconv.ParseInt(word, 10, 64)
		damaged = damaged || err != nil
		return n
	}
	found := store.KeyedLead{
		Key:      number(words[0]),
		Revision: lead.Revision(number(words[1])),
		Entry: lead.Entry{
			Place:    lead.Place{UpdatedAt: instant(number(words[2])), ID: id.Lead(words[4])},
			Industry: id.Industry(words[5]),
			Vertical: id.Vertical(words[6]),
		},
	}
	if words[3] != "" {
		found.Entry.MovedFrom = instant(number(words[3]))
	}
	if head := number(words[7]); !damaged && 0 <= head && head <= int64(len(document)) {
		found.Entry.Document = lead.Document{Head: document[:head], Tail: document[head:]}
		return found, nil
	}
	return store.KeyedLead{}, fmt.Errorf("the entry of lead %q is damaged", words[4])
}
