// Package leadcsv spells leads as a table in CSV, which imports read. The columns are those of lead.Columns, and what is in them is
// taken from the JSON of the leads, to which the names of the columns are paths.
package leadcsv

import (
	"encoding/csv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/adapters/leads/leadjson"
	"holdco/domain/lead"
	"holdco/domain/text"
)

// Table spells leads as the rows of one table. It is for one goroutine.
type Table struct {
	shape  leadjson.Shape
	header []string
	groups []group // in the order of the fields
	row    []string
	out    appender
	writer *csv.Writer
}

// group is one field of a lead, with the columns that it has.
type group struct {
	columns []lead.Column
	row     []string // that part of the row
}

// New makes a table of what a shape shows.
func New(shape leadjson.Shape) *Table {
	columns := lead.Columns(shape.Only)
	t := &Table{shape: shape, header: make([]string, len(columns)), row: make([]string, len(columns))}
	t.writer = csv.NewWriter(&t.out)
	for from := 0; from < len(columns); {
		to := from
		for to < len(columns) && columns[to].Field() == columns[from].Field() {
			t.header[to] = columns[to].Name
			to++
		}
		t.groups = append(t.groups, group{columns[from:to], t.row[from:to]})
		from = to
	}
	return t
}

// AppendHeader appends the line of the names of the columns.
func (t *Table) AppendHeader(to []byte) []byte { return t.append(to, t.header) }

// Append appends a lead as a line, with the names that the taxonomy gives. No value of a lead has a line break, so the row has one line.
func (t *Table) Append(to []byte, e lead.Exported, names lead.Names) []byte {
	clear(t.row)
	next := 0
	for _, value := range t.shape.Fields(e, names) {
		t.groups[next].fill(value)
		next++
	}
	return t.append(to, t.row)
}

func (t *Table) append(to []byte, row []string) []byte {
	t.out = to
	_ = t.writer.Write(row) // into memory, as what follows
	t.writer.Flush()
	return t.out
}

// appender appends what is written.
type appender []byte

func (a *appender) Write(text []byte) (int, error) {
	*a = append(*a, text...)
	return len(text), nil
}

// fill fills the cells of a field with its value in JSON.
func (g group) fill(value string) {
	switch last := len(g.columns) - 1; {
	case g.columns[0].IDs != nil:
		g.row[0] = text.Cell(strings.ReplaceAll(strings.Trim(value, `[]"`), `","`, " "))
	case last == 0:
		g.row[0] = cell(value)
	case g.columns[last].Contacts != nil:
		each, at := last/lead.ContactsInColumns, 0
		for contact, rest := range leadjson.Items(value) {
			if at == last {
				g.row[last] = text.Cell("[" + rest + "]")
				break
			}
			group{g.columns[at : at+each], g.row[at : at+each]}.fillObject(contact)
			at += each
		}
	default:
		g.fillObject(value)
	}
}

// fillObject fills the cells of an object with its members, which the last parts of the names of the columns name.
func (g group) fillObject(object string) {
	before := strings.LastIndexByte(g.columns[0].Name, '.') + 1
	for name, value := range leadjson.Members(object) {
		for at, column := range g.columns {
			if column.Name[before:] == name {
				g.row[at] = cell(value)
			}
		}
	}
}

// cell spells a text, a number or a truth value in JSON as a cell; null is blank.
func cell(value string) string {
	switch {
	case value == "null":
		return ""
	case !strings.HasPrefix(value, `"`):
		return value
	case strings.IndexByte(value, '\\') < 0:
		return text.Cell(value[1 : len(value)-1])
	}
	unquoted, _ := jsontext.AppendUnquote(nil, value) // it is what a lead was encoded as
	return text.Cell(string(unquoted))
}
