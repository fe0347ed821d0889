package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// activity implements store.ActivityReader.
type activity struct{ session }

var (
	entryByID = prepare(func(b builder) fmt.Stringer {
		return visible(byID(b.selects((*entryRow)(nil)), b.arg(1)))
	})
	insertEntry = prepare(func(b builder) fmt.Stringer {
		return inForm(intoOutbox(b.inserts(new(entryRow)), b.arg(len(new(entryRow).columns())+1)))
	})
)

var noEntry = fault.New(fault.NotFound, "There is no such entry of the activity log.")

func (a activity) Get(ctx context.Context, which id.Entry) (event.Event, error) {
	var found entryRow
	if err := a.row(ctx, found.columns(), noEntry, entryByID, string(which)); err != nil {
		return event.Event{}, err
	}
	return found.value()
}

func (a activity) List(ctx context.Context, filter store.ActivityFilter, after page.Position, size int) (page.Page[event.Event], error) {
	some := a.matching(filter)
	var found []event.Event
	for looked := 0; ; {
		want := size + 1
		if !some.isExact {
			want = max(want, portionOfSearch/max(1, len(some.types)))
		}
		rows, read, err := some.next(ctx, after, want)
		if err != nil {
			return page.Page[event.Event]{}, err
		}
		looked += read
		for _, row := range rows {
			happened, err := row.value()
			if err != nil {
				return page.Page[event.Event]{}, err
			}
			if some.isExact || filter.Matches(happened) {
				if found = append(found, happened); len(found) > size {
					return page.Of(found, size, store.PositionOf), nil
				}
			}
			after = row.position()
		}
		switch {
		case len(rows) < want:
			return page.Page[event.Event]{Items: found}, nil
		case looked >= store.MostSearched:
			return page.Page[event.Event]{Items: found, Next: after}, nil
		}
	}
}

func (a activity) Export(
	ctx context.Context, filter store.ActivityFilter, after page.Position, until store.Place, size int,
) (result page.Page[event.Event], err error) {
	some := a.matching(filter)
	some.ascending, some.until = true, &until
	rows, _, err := some.next(ctx, after, size)
	if err != nil {
		return result, err
	}
	for _, row := range rows {
		happened, err := row.value()
		if err != nil {
			return result, err
		}
		if some.isExact || filter.Matches(happened) {
			result.Items = append(result.Items, happened)
		}
	}
	if len(rows) == size {
		result.Next = rows[size-1].position()
	}
	return result, nil
}

// scan reads the entries that meet those conditions of a filter which an index serves.
type scan struct {
	activity
	filter    store.ActivityFilter
	types     []event.Type // each has a range of the index; nil: they are not looked at
	where     []condition  // on a column with an index
	isExact   bool         // these are all conditions
	ascending bool
	until     *store.Place // nil: to the end
}

// matching takes the index that leaves least to look at.
func (a activity) matching(filter store.ActivityFilter) *scan {
	s := &scan{activity: a, filter: filter}
	left := filter
	left.Company, left.Since, left.Until = nil, time.Time{}, time.Time{}
	by := func(column string, value *string) bool {
		if *value == "" {
			return false
		}
		s.where = []condition{{column, *value}}
		*value = ""
		return true
	}
	switch {
	case by("run_id", &left.Related.Run), by("subject_id", &left.Subject.ID), by("issue_id", &left.Related.Issue),
		by("agent_id", &left.Related.Agent):
	case filter.Type == "" && filter.Company != nil && !filter.HasActorPrefix() && by("actor", &left.Actor):
	case filter.Types() != nil:
		s.types, left.Type, left.Categories = filter.Types(), "", nil
	}
	s.isExact = reflect.DeepEqual(left, store.ActivityFilter{})
	return s
}

// next returns the first most entries after a position, and how many were read for it.
func (s *scan) next(ctx context.Context, after page.Position, most int) (rows []entryRow, read int, err error) {
	if s.types == nil {
		rows, err = s.in(ctx, s.where, after, most)
		return rows, len(rows), err
	}
	for _, one := range s.types { // an index sorts those of each, but not all of them together
		found, err := s.in(ctx, []condition{{"type", string(one)}}, after, most)
		if err != nil {
			return nil, read, err
		}
		read += len(found)
		rows = append(rows, found...)
	}
	slices.SortFunc(rows, func(a, b entryRow) int {
		if !s.ascending {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
	})
	return rows[:min(len(rows), most)], read, nil
}

func (s *scan) in(ctx context.Context, where []condition, after page.Position, most int) (rows []entryRow, err error) {
	query, err := s.query(&rows, where, after, most)
	if err != nil {
		return nil, err
	}
	return rows, s.all(ctx, query)
}

// query selects the first most entries after a position that meet some conditions and those of the filter on company and time.
func (s *scan) query(rows *[]entryRow, where []condition, after page.Position, most int) (query *bun.SelectQuery, err error) {
	query = visibleIn(s.selects(rows), s.filter.Company)
	isOfOne := false // what the entries are about belongs to one company
	for _, c := range where {
		query = query.Where("? = ?", bun.Ident(c.column), c.value)
		if strings.HasSuffix(c.column, "_id") {
			isOfOne = true
			query = query.Where("? <> ''", bun.Ident(c.column))
		}
	}
	switch {
	case s.filter.Company == nil:
	case isOfOne:
		// Not by its index, and so that Postgres does not take it for a rare condition: it would read the whole range, to sort it.
		query = query.Where("CASE WHEN company_id = ? THEN TRUE ELSE FALSE END", *s.filter.Company)
	default:
		query = query.Where("company_id = ?", *s.filter.Company)
	}
	if !s.filter.Since.IsZero() {
		query = query.Where("at >= ?", millisFrom(s.filter.Since))
	}
	if !s.filter.Until.IsZero() {
		query = query.Where("at < ?", millisFrom(s.filter.Until))
	}
	if s.until != nil {
		query = query.Where("(txid, seq) <= (?, ?)", s.until.Transaction, s.until.Sequence)
	}
	var at any
	if !after.IsStart() {
		if at, err = positionTime(after); err != nil {
			return nil, err
		}
	}
	if s.ascending {
		return oldest(query, "at", at, after.ID, most), nil
	}
	return newest(query, "at", at, after.ID, most), nil
}

// oldest is newest from the other end.
func oldest(query *bun.SelectQuery, column string, at, id any, limit int) *bun.SelectQuery {
	if at != nil {
		query = query.Where("(?, id) > (?, ?)", bun.Ident(column), at, id)
	}
	return query.OrderExpr("?, id LIMIT ?", bun.Ident(column), limit)
}

func (a activity) Placed(ctx context.Context, which id.Entry) (store.Placed, error) {
	found, err := a.placed(ctx, visible(a.selects((*entryRow)(nil))).Where("id = ?", which))
	if err != nil || len(found) == 0 {
		return store.Placed{}, cmp.Or(err, error(noEntry))
	}
	return found[0], nil
}

// visibleIn is visible in one company, or in all if it is nil. It asks once whether the one was removed: joined to the rows of a known
// company, Postgres takes it for a condition that hardly a row meets, and reads them all, to sort them.
func visibleIn(query *bun.SelectQuery, of *id.Company) *bun.SelectQuery {
	if of == nil {
		return visible(query)
	}
	return query.Where("NOT EXISTS (SELECT 1 FROM removed_companies WHERE removed_companies.company_id = ?)", *of)
}

// settled selects entries before which none will come any more.
func (a activity) settled(of *id.Company) *bun.SelectQuery {
	horizon, _ := a.engine.Horizon()
	query := visibleIn(a.selects((*entryRow)(nil)), of).Where("txid < ?", bun.Safe(horizon))
	if of != nil {
		query = query.Where("company_id = ?", *of)
	}
	return query
}

func (a activity) Follow(
	ctx context.Context, of *id.Company, after, until store.Place, most int,
) ([]store.Placed, error) {
	return a.placed(ctx, a.settled(of).Where("(txid, seq) > (?, ?)", after.Transaction, after.Sequence).
		Where("(txid, seq) <= (?, ?)", until.Transaction, until.Sequence).Order("txid", "seq").Limit(int64(most)))
}

func (a activity) Ends(ctx context.Context, of *id.Company) (first, last *store.Placed, err error) {
	end := func(direction string) (*store.Placed, error) {
		found, err := a.placed(ctx, a.settled(of).OrderExpr("txid ?, seq ? LIMIT 1", bun.Safe(direction), bun.Safe(direction)))
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	}
	if first, err = end("ASC"); err == nil {
		last, err = end("DESC")
	}
	return first, last, err
}

// placed reads entries with their places.
func (a activity) placed(ctx context.Context, query *bun.SelectQuery) (found []store.Placed, err error) {
	err = a.each(ctx, query.ColumnExpr("?TableColumns, txid, seq"), func(rows *sql.Rows) error {
		var row entryRow
		var at store.Place
		if err := rows.Scan(append(row.columns(), &at.Transaction, &at.Sequence)...); err != nil {
			return err
		}
		happened, err := row.value()
		found = append(found, store.Placed{Event: happened, Place: at})
		return err
	})
	return found, err
}

func (a activity) Reorder(ctx context.Context) (moved bool, err error) {
	_, next := a.engine.Horizon()
	isForeign, err := a.exists(ctx, a.selectFrom("activity").Where("txid > ?", bun.Safe(next)))
	if err != nil || !isForeign {
		return false, err
	}
	if _, err = a.exec(ctx, a.updates((*entryRow)(nil)).Set("txid = 0").Where("txid <> 0")); err != nil {
		return false, err
	}
	return true, a.rewind(ctx)
}

// add inserts an event, which records the changes of its unit.
func (a activity) add(ctx context.Context, happened event.Event, ids id.Source, at time.Time) error {
	if happened.Actor == "" {
		return errors.New("an event must name its actor")
	}
	happened.At = at
	if happened.ID == "" {
		happened.ID = id.New[id.Entry](ids.UUIDv7())
	}
	row, err := entryRowOf(happened)
	if err != nil {
		return err
	}
	isSent := webhook.IsSent(happened.Type)
	if err := a.later(ctx, insertEntry, append(arguments(row.columns()), isSent)...); err != nil {
		return err
	}
	a.unit.recorded, a.unit.logs = true, true
	a.unit.sends = a.unit.sends || isSent
	return nil
}

// intoOutbox marks an inserted event as unqueued if webhooks send it and an endpoint is enabled.
func intoOutbox(query *bun.InsertQuery, isSent any) *bun.InsertQuery {
	return query.Value("unqueued", "CASE WHEN ? AND EXISTS (SELECT 1 FROM webhooks WHERE enabled = 1) THEN 1 ELSE 0 END", isSent)
}

// eventForm is the version of the fields of events. It is stored with each event. Raise it when a field is renamed or changes
// its meaning, so that reads can convert older events.
const eventForm = 1

// inForm sets the form of an inserted event.
func inForm(query *bun.InsertQuery) *bun.InsertQuery { return query.Value("form", "?", eventForm) }

// entryRow is a row of the activity log. It is not declared with tableOf: encoding the fields of an event can fail, an insert
// sets columns that no event has, and the outbox reads rows in part or together with their positions.
type entryRow struct {
	bun.BaseModel `bun:"table:activity"`

	ID          id.Entry    `bun:"id,pk"`
	Company     id.Company  `bun:"company_id"`
	Category    string      `bun:"category"`
	Type        event.Type  `bun:"type"`
	Actor       event.Actor `bun:"actor"`
	SubjectType string      `bun:"subject_type"`
	SubjectID   string      `bun:"subject_id"`
	Data        string      `bun:"data"`
	Previous    string      `bun:"previous"`
	At          int64       `bun:"at"`
	Issue       string      `bun:"issue_id"`
	Agent       string      `bun:"agent_id"`
	Run         string      `bun:"run_id"`
}

func (r *entryRow) columns() []any {
	return []any{
		(*string)(&r.ID), (*string)(&r.Company), &r.Category, (*string)(&r.Type), (*string)(&r.Actor), &r.SubjectType, &r.SubjectID,
		&r.Data, &r.Previous, &r.At, &r.Issue, &r.Agent, &r.Run,
	}
}

func entryRowOf(e event.Event) (entryRow, error) {
	data, err := e.Data.MarshalJSON()
	if err != nil {
		return entryRow{}, err
	}
	var previous []byte
	if e.Previous != nil {
		if previous, err = e.Previous.MarshalJSON(); err != nil {
			return entryRow{}, err
		}
	}
	related := e.Related()
	return entryRow{
		ID:          e.ID,
		Company:     e.Company,
		Category:    e.Type.Category(),
		Type:        e.Type,
		Actor:       e.Actor,
		SubjectType: e.Subject.Type,
		SubjectID:   e.Subject.ID,
		Data:        string(data),
		Previous:    string(previous),
		At:          millis(e.At),
		Issue:       related.Issue,
		Agent:       related.Agent,
		Run:         related.Run,
	}, nil
}

func (r entryRow) value() (event.Event, error) {
	data, err := parseFields(r.Data)
	if err != nil {
		return event.Event{}, fmt.Errorf("data of %s: %w", r.ID, err)
	}
	previous, err := parseFields(r.Previous)
	if err != nil {
		return event.Event{}, fmt.Errorf("previous of %s: %w", r.ID, err)
	}
	return event.Event{
		ID:       r.ID,
		Company:  r.Company,
		Type:     r.Type,
		Actor:    r.Actor,
		Subject:  event.Subject{Type: r.SubjectType, ID: r.SubjectID},
		Data:     data,
		Previous: previous,
		At:       instant(r.At),
	}, nil
}

func (r entryRow) position() page.Position { return rowPosition(r.At, string(r.ID)) }

// parseFields decodes the JSON of event.Fields; "" is nil. Numbers keep their digits.
func parseFields(text string) (event.Fields, error) {
	if text == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	return fieldsOf(object), nil
}

func fieldsOf(object map[string]any) event.Fields {
	fields := make(event.Fields, 0, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		fields = append(fields, event.F(name, fieldValue(object[name])))
	}
	return fields
}

func fieldValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return fieldsOf(value)
	case []any:
		for i, item := range value {
			value[i] = fieldValue(item)
		}
	}
	return value
}
