package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	var rows []entryRow
	query := visible(a.selects(&rows))
	if filter.Company != nil {
		query = query.Where("company_id = ?", *filter.Company)
	}
	if filter.Type != "" {
		query = query.Where("type = ?", filter.Type)
	}
	return newestPage(ctx, a.session, &rows, query, "at", after, size)
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
	a.unit.recorded = true
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
}

func (r *entryRow) columns() []any {
	return []any{
		(*string)(&r.ID), (*string)(&r.Company), &r.Category, (*string)(&r.Type), (*string)(&r.Actor), &r.SubjectType, &r.SubjectID,
		&r.Data, &r.Previous, &r.At,
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
