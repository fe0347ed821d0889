package move

import (
	"fmt"
	"time"

	"holdco/domain/event"
)

// Progress is how far a move is.
type Progress struct {
	Verifying bool // else copying
	Table     string
	Rows      int64 // of all tables
}

// Verified is a table whose rows are the same on both sides.
type Verified struct {
	Table  string
	Rows   int64
	Digest string // SHA-256
}

// Moved is a move that is done.
type Moved struct {
	From, To string // the names of the stores
	Rows     int64
	Tables   []Verified
	Kept     bool // the source can be used
	Unmarked bool // no more was done: it had been moved before
	Took     time.Duration
}

// Fields returns what is shown of it.
func (m Moved) Fields() event.Fields {
	tables := make([]event.Fields, len(m.Tables))
	for n, one := range m.Tables {
		tables[n] = event.Fields{event.F("name", one.Table), event.F("rows", one.Rows), event.F("sha256", one.Digest)}
	}
	return event.Fields{
		event.F("from", m.From), event.F("to", m.To), event.F("rows", m.Rows), event.F("verified", !m.Unmarked),
		event.F("sourceKept", m.Kept), event.F("unmarked", m.Unmarked), event.F("took", fmt.Sprintf("%.1fs", m.Took.Seconds())),
		event.F("tables", tables),
	}
}

// MostNamed bounds how many rows that differ are named.
const MostNamed = 10

// Differences are rows that are not the same on both sides.
type Differences struct {
	Named []string
	More  bool // there are others
}

// Add adds a row; what says how it differs.
func (d *Differences) Add(row, what string) {
	if len(d.Named) == MostNamed {
		d.More = true
		return
	}
	d.Named = append(d.Named, row+" "+what)
}

// Err returns nil if there are none.
func (d *Differences) Err() error {
	if len(d.Named) == 0 {
		return nil
	}
	text := "the stores differ; the one that was to be moved is as it was:"
	for _, one := range d.Named {
		text += "\n" + one
	}
	if d.More {
		text += "\nand others"
	}
	return fmt.Errorf("%s\n%s", text, `undo with "holdco move --abandon", and move again`)
}
