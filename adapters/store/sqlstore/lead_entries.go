package sqlstore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// leadEntryRow is a lead as the export reads it, in one text: a line of words, with a space between each two, and the
// document. The first word is the form of the document.
type leadEntryRow struct {
	bun.BaseModel `bun:"table:lead_entries"`

	Key   int64  `bun:"key,pk"`
	Entry string `bun:"entry"`
}

func (r *leadEntryRow) columns() []any { return []any{&r.Key, &r.Entry} }

// entryForm is how documents are encoded in entries.
type entryForm struct {
	number int64
	encode func(lead.Lead) lead.Document
	decode func(lead.Document) (lead.Lead, error) // of any form
}

var currentForm = entryForm{leadjson.Form, leadjson.Encode, leadjson.Decode}

func (f entryForm) rowOf(kept lead.Kept, key, revision int64) leadEntryRow {
	const usual = 256 // bytes of a line, at most
	document := f.encode(kept.Lead)
	line := strconv.AppendInt(make([]byte, 0, usual), f.number, 10)
	line = strconv.AppendInt(append(line, ' '), key, 10)
	line = strconv.AppendInt(append(line, ' '), revision, 10)
	line = strconv.AppendInt(append(line, ' '), millis(kept.UpdatedAt), 10)
	line = append(line, ' ')
	if !kept.MovedFrom.IsZero() {
		line = strconv.AppendInt(line, millis(kept.MovedFrom), 10)
	}
	line = append(append(line, ' '), kept.ID...)
	line = append(append(line, ' '), kept.Industry...)
	line = append(append(line, ' '), kept.Vertical...)
	line = strconv.AppendInt(append(line, ' '), int64(len(document.Head)), 10)

	var entry strings.Builder
	entry.Grow(len(line) + len("\n") + len(document.Head) + len(document.Tail))
	entry.Write(line)
	entry.WriteByte('\n')
	entry.WriteString(document.Head)
	entry.WriteString(document.Tail)
	return leadEntryRow{Key: key, Entry: entry.String()}
}

// parse reads an entry. A document of another form, older or later, is encoded anew; the row is left as it is.
func (f entryForm) parse(text string) (store.KeyedLead, error) {
	line, document, _ := strings.Cut(text, "\n")
	var words [9]string
	for i := range words {
		words[i], line, _ = strings.Cut(line, " ")
	}
	damaged := false
	number := func(word string) int64 {
		n, err := strconv.ParseInt(word, 10, 64)
		damaged = damaged || err != nil
		return n
	}
	form := number(words[0])
	found := store.KeyedLead{
		Key:      number(words[1]),
		Revision: lead.Revision(number(words[2])),
		Entry: lead.Exported{
			Place:    lead.Place{UpdatedAt: instant(number(words[3])), ID: id.Lead(words[5])},
			Industry: id.Industry(words[6]),
			Vertical: id.Vertical(words[7]),
		},
	}
	if words[4] != "" {
		found.Entry.MovedFrom = instant(number(words[4]))
	}
	head := number(words[8])
	if damaged || head < 0 || head > int64(len(document)) {
		return store.KeyedLead{}, fmt.Errorf("the entry of lead %q is damaged", words[5])
	}
	found.Entry.Document = lead.Document{Head: document[:head], Tail: document[head:]}
	if form != f.number {
		return found, f.convert(&found.Entry)
	}
	return found, nil
}

// convert encodes the document of an entry anew, which has another form.
func (f entryForm) convert(e *lead.Exported) error {
	l, err := f.decode(e.Document)
	if err != nil {
		return fmt.Errorf("the entry of lead %q: %w", e.Place.ID, err)
	}
	l.Industry, l.Vertical = e.Industry, e.Vertical
	e.Document = f.encode(l)
	return nil
}
