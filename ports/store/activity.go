package store

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
)

// ActivityReader reads the activity log: every recorded event, except those of removed companies.
type ActivityReader interface {
	// Get returns an event, or fault.NotFound. The fields of Data and Previous are sorted by name.
	Get(ctx context.Context, which id.Entry) (event.Event, error)

	// List returns at most size events that match, after the position after: newest first, and by descending id within one
	// instant. The fields are as in Get. Conditions that no index serves are looked for among MostSearched events: a page may
	// then have fewer, even none, while another follows.
	List(ctx context.Context, filter ActivityFilter, after page.Position, size int) (page.Page[event.Event], error)

	// Export is List from the oldest on, without what has a place after until. It looks at size events: a page may have fewer,
	// even none, while another follows.
	Export(
		ctx context.Context, filter ActivityFilter, after page.Position, until Place, size int,
	) (page.Page[event.Event], error)

	// Placed returns where an event stands in the order of commits, or fault.NotFound.
	Placed(ctx context.Context, which id.Entry) (Placed, error)

	// Follow returns at most most events of a company, or of all if it is nil, that come after a place in the order of commits and
	// not after until. Once an event is returned, none will be found before it. What was just committed can be absent for as
	// long as a transaction runs that began before it.
	Follow(ctx context.Context, of *id.Company, after, until Place, most int) ([]Placed, error)

	// Ends returns the first and the last event that Follow would find; nil: there is none.
	Ends(ctx context.Context, of *id.Company) (first, last *Placed, err error)

	// Chained returns the place up to which all events were chained.
	Chained(ctx context.Context) (Place, error)

	// Heads returns the newest links of the chains of those of these companies that exist; "" is the chain of events without a
	// company. An empty chain has the zero Head.
	Heads(ctx context.Context, of []id.Company) (map[id.Company]Head, error)

	// Length returns the largest number of a link of a chain, which in a sound one is that of its head; 0: there is no link.
	Length(ctx context.Context, of id.Company) (int64, error)

	// Links returns the links of those of these events that were chained.
	Links(ctx context.Context, of []id.Entry) (map[id.Entry]audit.Link, error)

	// Chain returns at most most links of a chain after a position, in their order, each with its event.
	Chain(ctx context.Context, of id.Company, after ChainPosition, most int) ([]Chained, error)
}

// ChainPosition is where a link stands in its chain. The zero value is before all.
type ChainPosition struct {
	Number int64
	Entry  id.Entry // tells links of one number apart, which a sound chain has not
}

// Chained is a link of a chain.
type Chained struct {
	Entry id.Entry
	Link  audit.Link
	Event *event.Event // nil: it is not in the log
}

// Position is where the link stands.
func (c Chained) Position() ChainPosition { return ChainPosition{c.Link.Number, c.Entry} }

// Head is the newest link of a chain.
type Head struct {
	Entry id.Entry
	Link  audit.Link
	At    time.Time // when it was chained
}

// ChainedPortion is the links of the events between two places, in the order of commits.
type ChainedPortion struct {
	From, To Place
	Links    []ChainedLink
}

// ChainedLink is the link of one event.
type ChainedLink struct {
	Company id.Company // empty: none
	Entry   id.Entry
	Link    audit.Link
}

// PositionOf is where an event stands in List and Export.
func PositionOf(e event.Event) page.Position {
	return page.Position{Values: []string{strconv.FormatInt(e.At.UnixMilli(), 10)}, ID: string(e.ID)}
}

// ActivityFilter says which events a list holds: those that meet every condition that is set.
type ActivityFilter = event.Filter

// Activity reads the activity log, and mends its order. Tx.Record adds to it.
type Activity interface {
	ActivityReader

	// Reorder makes all events come before those of this database, if some come from another one, whose transactions have higher
	// numbers: the log was moved. They keep the order in which they were made. It reports whether they were moved. It needs no event.
	Reorder(ctx context.Context) (moved bool, err error)

	// Extend chains a portion. Unless events were chained up to just its From, and all its companies are still there, it changes
	// nothing and reports false. It needs no event.
	Extend(ctx context.Context, portion ChainedPortion) (bool, error)
}

// Place is where an event stands in the order of commits. The zero value is before all.
type Place struct{ Transaction, Sequence int64 }

// Last is a place after all.
var Last = Place{1<<63 - 1, 1<<63 - 1}

// Compare is less than 0 if p comes before other, 0 if they are equal, and else more than 0.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.Transaction, other.Transaction), cmp.Compare(p.Sequence, other.Sequence))
}

// Placed is an event with its place.
type Placed struct {
	event.Event
	Place Place
}
