package importer

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"holdco/domain/fault"
	"holdco/domain/text"
)

// records takes a CSV file apart. A quoted field may continue over several lines; where the quotes never end, only
// the line that they begin in is at fault.
type records struct {
	*source
	text []byte // of a record of several lines
}

// next returns the next record that is not blank.
func (r *records) next() (piece, error) {
	first, err := r.nextLine()
	if err != nil || !goesOn(first.text, false) {
		return first, err
	}
	r.text = append(append(r.text[:0], first.text...), '\n')
	size := len(r.text)
	for quoted := true; quoted; {
		line, err := r.read()
		switch {
		case err == nil && len(r.text) <= MostLine:
			r.text = append(r.text, line...)
			quoted = goesOn(line, true)
		case err == nil || errors.Is(err, io.EOF):
			r.back(slices.Concat(r.text[size:], line), first.number)
			return piece{
				number: first.number, end: r.end(), broken: "the line opens a quote that is never closed", code: fault.InvalidFormat,
			}, nil
		default:
			return piece{}, err
		}
	}
	return r.piece(first.number, r.text), nil
}

// goesOn reports whether a line ends within quotes; quoted reports whether it begins there. Quotes count at the
// beginning of a field alone.
func goesOn(line []byte, quoted bool) bool {
	begins, closed := !quoted, false
	for _, b := range line {
		switch {
		case quoted:
			quoted, closed = b != '"', b == '"'
		case b == '"' && (begins || closed): // closed: two of them stand for one
			quoted, begins, closed = true, false, false
		default:
			begins, closed = b == ',', false
		}
	}
	return quoted
}

// column puts what a cell holds into a draft.
type column[D any] struct {
	name string                   // of several that the column can have, always the same one
	at   int                      // its place in a record
	last bool                     // after those of the others
	read func(to *D, cell string) // of a cell that is not blank; nil: passes over it
}

// table reads records under a header.
type table[D any] struct {
	of      kind[D]
	columns []column[D]
	header  []string
	begin   D // each draft
	feed    *bytes.Reader
	parser  *csv.Reader // reads what is fed, one record at a time
}

// tableOf reads the header.
func tableOf[D any](r *records, of kind[D], encoding string) (*table[D], error) {
	t := &table[D]{of: of}
	t.reset()
	header, err := r.next()
	if err == nil && isSeparatorLine(header.text) { // Excel reads it, and shows nothing of it
		if separator := header.text[len("sep="):]; string(separator) != "," {
			return nil, fmt.Errorf("the first line says that columns are separated by %q. "+mustHaveCommas, separator)
		}
		header, err = r.next()
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file has no header")
	case err != nil:
		return nil, err
	case header.broken != "":
		return nil, fmt.Errorf("the header is not CSV: %s", header.broken)
	}
	if bytes.IndexByte(header.text, 0) >= 0 {
		return nil, errUTF16
	}
	wrong, _ := notUTF8(header.text)
	if wrong = cmp.Or(wrong, notConverted(header.text, encoding)); wrong != "" {
		return nil, errors.New(wrong)
	}
	names, err := t.cells(header.text)
	if err != nil {
		return nil, fmt.Errorf("the header is not CSV: %w", err)
	}
	seen := map[string]bool{}
	for at, name := range names {
		name = strings.TrimSpace(name)
		read, ok := of.columns(name)
		switch separator := strings.IndexAny(name, "\t;"); {
		case ok:
		case len(names) == 1 && separator >= 0:
			return nil, fmt.Errorf("the header has %q between its columns. "+mustHaveCommas, name[separator])
		case name == "":
			return nil, fmt.Errorf("column %d of the header has no name: name it, or take it out of the file. Columns are: %s", at+1,
				strings.Join(of.names, ", "))
		default:
			return nil, errUnknownColumn(name, of.names)
		}
		if seen[read.name] {
			return nil, fmt.Errorf("the header names the column %s twice", read.name)
		}
		seen[read.name], read.at = true, at
		t.header = append(t.header, read.name)
		t.columns = append(t.columns, read)
	}
	slices.SortStableFunc(t.columns, func(a, b column[D]) int {
		switch {
		case a.last == b.last:
			return 0
		case a.last:
			return 1
		}
		return -1
	})
	for _, name := range of.required {
		if !seen[name] {
			return nil, fmt.Errorf("the header lacks the column %s", name)
		}
	}
	of.begin(&t.begin, t.header)
	return t, nil
}

// mustHaveCommas says what to do about a table with something else.
const mustHaveCommas = `Columns are separated by commas: save the file as "CSV UTF-8 (Comma delimited)", or put commas between them`

// isSeparatorLine reports whether a line tells a spreadsheet what separates columns.
func isSeparatorLine(line []byte) bool {
	return len(line) == len("sep=,") && bytes.EqualFold(line[:len("sep=")], []byte("sep="))
}

// errUnknownColumn names the columns that there are, and the nearest, if it may be meant.
func errUnknownColumn(name string, names []string) error {
	hint := ""
	if near, maybe := text.Nearest(name, names); maybe {
		hint = "; the nearest is " + near
	}
	return fmt.Errorf("the header names the unknown column %.100q%s. Columns are separated by commas: %s", name, hint,
		strings.Join(names, ", "))
}

// draft reads a record.
func (t *table[D]) draft(record []byte) D {
	draft := t.begin
	cells, err := t.cells(record)
	switch {
	case err != nil:
		t.of.problems(&draft).Add(fault.Fieldf("", fault.InvalidFormat, "the line is not CSV: %s", err))
		return draft
	case len(cells) != len(t.columns):
		t.of.problems(&draft).Add(fault.Fieldf("", fault.InvalidFormat, "the line has %d fields; the header has %d", len(cells),
			len(t.columns)))
		return draft
	}
	for _, column := range t.columns {
		if cell := text.OfCell(strings.TrimSpace(cells[column.at])); cell != "" && column.read != nil {
			column.read(&draft, cell)
		}
	}
	t.of.complete(&draft)
	return draft
}

// cells returns the fields of a record, until the next call.
func (t *table[D]) cells(text []byte) ([]string, error) {
	t.feed.Reset(text)
	cells, err := t.parser.Read()
	if err != nil {
		t.reset() // the parser may have read a part of the text alone
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			err = wrong.Err
		}
	}
	return cells, err
}

func (t *table[D]) reset() {
	t.feed = bytes.NewReader(nil)
	t.parser = csv.NewReader(t.feed)
	t.parser.FieldsPerRecord = -1
	t.parser.ReuseRecord = true
}
