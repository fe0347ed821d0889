package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// The formats of files.
const (
	NDJSON = lead.NDJSON
	CSV    = lead.CSV
	JSON   = lead.JSON
)

// MostLine is how long a line may be, or what stands for one in another format, in bytes.
const MostLine = 1 << 20

// Files reads files.
type Files struct {
	Encoding string // of lead.Encodings; empty: UTF-8
}

// Leads reads leads. An error ends the file: it cannot be read, or its header or its list is broken.
func (f Files) Leads(from io.Reader, format string) iter.Seq2[inbound.LeadLine, error] {
	return lines(from, f.Encoding, format, leads)
}

// Suppressed is Leads for those that need no name.
func (f Files) Suppressed(from io.Reader, format string) iter.Seq2[inbound.LeadLine, error] {
	known := leads
	known.required = nil
	return lines(from, f.Encoding, format, known)
}

// Campaigns is Leads for campaigns.
func (f Files) Campaigns(from io.Reader, format string) iter.Seq2[inbound.CampaignLine, error] {
	return lines(from, f.Encoding, format, campaigns)
}

// mostTaxonomy is how large a taxonomy may be, in bytes.
const mostTaxonomy = 64 << 20

// Taxonomy reads a taxonomy: one JSON object.
func (f Files) Taxonomy(from io.Reader) (lead.TaxonomyDraft, error) {
	s, err := open(from, f.Encoding)
	if err != nil {
		return lead.TaxonomyDraft{}, err
	}
	text, err := io.ReadAll(io.LimitReader(s.from, mostTaxonomy+1))
	switch {
	case err != nil:
		return lead.TaxonomyDraft{}, err
	case len(text) > mostTaxonomy:
		return lead.TaxonomyDraft{}, fmt.Errorf("the file has more than %d MiB", mostTaxonomy>>20)
	}
	w := walker{what: "the file"}
	draft := read(&w, text, (*walker).taxonomy)
	draft.Problems = w.problems
	return draft, nil
}

// kind is what a file holds.
type kind[D any] struct {
	object   func(w *walker) D // reads a JSON object
	columns  func(name string) (column[D], bool)
	names    []string                    // of columns, for people
	required []string                    // the columns that a header must have
	begin    func(d *D, header []string) // is called with a draft before records are read under a header
	complete func(d *D)                  // is called with what a record has put into a draft
	problems func(d *D) *fault.Problems
	lossy    func(d *D) // notes that the file was converted to UTF-8; nil: a line that could not be converted is at fault as a whole
}

var (
	leads = kind[lead.Draft]{
		object: (*walker).lead, columns: leadColumn, names: lead.ColumnNames(), required: []string{"name"},
		begin: func(d *lead.Draft, header []string) { d.Absent = absentFrom(header) }, complete: present,
		problems: func(d *lead.Draft) *fault.Problems { return &d.Problems },
		lossy:    func(d *lead.Draft) { d.Converted = true },
	}
	campaigns = kind[lead.CampaignDraft]{
		object: (*walker).campaign, columns: campaignColumn, names: campaignColumns, required: []string{"id", "name"},
		begin: func(*lead.CampaignDraft, []string) {}, complete: func(*lead.CampaignDraft) {},
		problems: func(d *lead.CampaignDraft) *fault.Problems { return &d.Problems },
	}
)

// piece is a part of a file that stands for one line.
type piece struct {
	number, end int64  // the line that it begins in, and the offset of its end in the file
	item        int64  // its place in a JSON list, 1-based; otherwise 0
	text        []byte // until the next piece is asked for
	broken      string // why it cannot be taken; empty: it can
	code        string // of what is broken
}

// lines reads the lines of a file, one after the other.
func lines[D any](from io.Reader, encoding, format string, of kind[D]) iter.Seq2[inbound.Line[D], error] {
	return func(yield func(inbound.Line[D], error) bool) {
		pieces, draftOf, err := reader(from, encoding, format, of)
		for err == nil {
			var p piece
			if p, err = pieces(); err != nil {
				break
			}
			found := inbound.Line[D]{Number: p.number, Item: p.item, End: p.end}
			quoted := ""
			if p.broken == "" {
				p.broken, quoted = notUTF8(p.text)
				p.code = fault.InvalidCharacters
			}
			if p.broken == "" && of.lossy == nil {
				p.broken = notConverted(p.text, encoding)
			}
			if p.broken != "" {
				of.problems(&found.Draft).Add(fault.Quotef("", p.code, quoted, "%s", p.broken))
			} else {
				found.Draft = draftOf(p.text)
				if of.lossy != nil && isConverted(encoding) {
					of.lossy(&found.Draft)
				}
			}
			if !yield(found, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(inbound.Line[D]{}, err)
		}
	}
}

// reader returns what takes a file apart, and ends it with io.EOF, and what reads a piece of it.
func reader[D any](
	from io.Reader, encoding, format string, of kind[D],
) (pieces func() (piece, error), draft func(text []byte) D, err error) {
	s, err := open(from, encoding)
	if err != nil {
		return nil, nil, err
	}
	w := walker{what: "the line"}
	object := func(text []byte) D {
		draft := read(&w, text, of.object)
		*of.problems(&draft) = w.problems
		return draft
	}
	switch format {
	case NDJSON:
		return s.nextLine, hinting(object, of), nil
	case JSON:
		return (&elements{source: s}).next, object, nil
	case CSV:
		r := &records{source: s}
		t, err := tableOf(r, of, encoding)
		return r.next, t.draft, err
	}
	return nil, nil, fmt.Errorf("%q is none of the formats %s, %s and %s", format, NDJSON, CSV, JSON)
}

// hinting adds to what is wrong with the first line of a file what that line looks like.
func hinting[D any](object func(text []byte) D, of kind[D]) func(text []byte) D {
	isFirst := true
	return func(text []byte) D {
		draft, problems := object(text), fault.Problems(nil)
		if isFirst && len(*of.problems(&draft)) > 0 && text[0] != '{' {
			problems = *of.problems(&draft)
			hint := "of a CSV file say --format csv (Content-Type: text/csv)"
			if text[0] == '[' {
				hint = "of a JSON list say --format json (Content-Type: application/json)"
			}
			problems[0].Message += "; " + hint
		}
		isFirst = false
		return draft
	}
}

// open unpacks a file that is packed, converts it to UTF-8, and passes over a byte order mark.
func open(from io.Reader, encoding string) (*source, error) {
	const ahead = 64 << 10
	s := &source{from: bufio.NewReaderSize(from, ahead)}
	if magic, _ := s.from.Peek(2); bytes.Equal(magic, gzipMagic) {
		unpacked, err := unpack(s.from)
		if err != nil {
			return nil, fmt.Errorf("unpack the file: %w", err)
		}
		s.packed = unpacked
		s.from = bufio.NewReaderSize(unpacked, ahead)
	}
	text, err := decoded(s.from, encoding)
	if err != nil {
		return nil, err
	}
	if text != io.Reader(s.from) {
		s.from = bufio.NewReaderSize(text, ahead)
	}
	if mark, _ := s.from.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		n, _ := s.from.Discard(len(mark))
		s.offset = int64(n)
	}
	return s, nil
}
