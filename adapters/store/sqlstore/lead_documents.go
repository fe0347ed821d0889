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

// leadDocumentRow is a lead as the export reads it, encoded in one text: a line of words separated by spaces, then the
// document. The first word is the form of the document.
type leadDocumentRow struct {
	bun.BaseModel `bun:"table:lead_entries"`

	Key  int64  `bun:"key,pk"`
	Text string `bun:"entry"`
}

func (r *leadDocumentRow) columns() []any { return []any{&r.Key, &r.Text} }

// documentForm is a form in which documents are encoded.
type documentForm struct {
	number int64
	encode func(lead.Lead) lead.Document
	decode func(lead.Document) (lead.Lead, error) // of any form
}

var currentForm = documentForm{leadjson.Form, leadjson.Encode, leadjson.Decode}

func (f documentForm) rowOf(kept lead.Stored, key, revision int64) leadDocumentRow {
	const usual = 256 // bytes of most lines
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

	var text strings.Builder
	text.Grow(len(line) + len("\n") + len(document.Head) + len(document.Tail))
	text.Write(line)
	text.WriteByte('\n')
	text.WriteString(document.Head)
	text.WriteString(document.Tail)
	return leadDocumentRow{Key: key, Text: text.String()}
}

// hasCampaigns reports whether the document of a row has the campaigns of its lead. Whoever parses one that has not must know them.
func hasCampaigns(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	form, err := strconv.ParseInt(word, 10, 64)
	return err != nil || form >= leadjson.CampaignsSince
}

// parse decodes a row. It encodes a document of another form, older or newer, in this form, and does not write it back. The campaigns
// are those of the lead's labels, for a document that has none.
func (f documentForm) parse(text string, campaigns []id.Campaign) (store.KeyedLead, error) {
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
		Exported: lead.Exported{
			Place:    lead.Place{UpdatedAt: instant(number(words[3])), ID: id.Lead(words[5])},
			Industry: id.Industry(words[6]),
			Vertical: id.Vertical(words[7]),
		},
	}
	if words[4] != "" {
		found.Exported.MovedFrom = instant(number(words[4]))
	}
	head := number(words[8])
	if damaged || head < 0 || head > int64(len(document)) {
		return store.KeyedLead{}, fmt.Errorf("the document of lead %q is damaged", words[5])
	}
	found.Exported.Document = lead.Document{Head: document[:head], Tail: document[head:]}
	if form != f.number {
		if hasCampaigns(text) {
			campaigns = nil
		}
		err := f.convert(&found.Exported, campaigns)
		return found, err
	}
	return found, nil
}

// convert encodes a document of another form in this form, with these campaigns or else its own.
func (f documentForm) convert(e *lead.Exported, campaigns []id.Campaign) error {
	l, err := f.decode(e.Document)
	if err != nil {
		return fmt.Errorf("the document of lead %q: %w", e.Place.ID, err)
	}
	l.Industry, l.Vertical = e.Industry, e.Vertical
	if campaigns != nil {
		l.Campaigns = campaigns
	}
	e.Document = f.encode(l)
	return nil
}

// content decodes a row and what the row beside it says.
func (f documentForm) content(text string, by labels) (lead.Lead, error) {
	found, err := f.parse(text, by.campaigns)
	if err != nil {
		return lead.Lead{}, err
	}
	content, err := f.decode(found.Exported.Document)
	if err != nil {
		return lead.Lead{}, fmt.Errorf("the document of lead %q: %w", found.Exported.Place.ID, err)
	}
	content.Industry, content.Vertical, content.Campaigns = found.Exported.Industry, found.Exported.Vertical, by.campaigns
	return content, nil
}
