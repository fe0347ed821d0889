package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

var activityRules = []rule{
	{"an event reads back as it was recorded, stamped with the unit's instant and, unless it has one, with an id", eventReadsBack},
	{"an event that is not there is not found", eventNotFound},
	{"an event without an actor is refused", eventNeedsActor},
	{"figures in events keep every digit", eventKeepsDigits},
	{"a list has what meets every condition, newest first", activityList},
}

func eventReadsBack(f *fixture) {
	at := f.clock.Now()
	updated := event.Event{
		ID:      "act_0000000000000000000000000z",
		At:      at.Add(time.Hour),
		Company: "cmp_some",
		Type:    event.CompanyUpdated,
		Actor:   "token:tok_some",
		Subject: event.Subject{Type: "company", ID: "cmp_some"},
		Data: event.Fields{
			event.F("zebra", "last"), event.F("apple", nil), event.F("flag", true),
			event.F("list", []string{"b", "a"}),
			event.F("nested", event.Fields{event.F("y", 2), event.F("x", event.Fields{event.F("b", 1), event.F("a", "")})}),
		},
		Previous: event.Fields{event.F("zebra", "first")},
	}
	created := founded(f.newCompany("acme"))
	f.update(recording(updated, created))

	got, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, 10)
	f.ok(err)
	if len(got.Items) != 2 {
		f.Fatalf("%d events, want 2", len(got.Items))
	}
	for i, want := range []event.Event{created, updated} { // newest first
		recorded := got.Items[i]
		if _, ok := id.Parse[id.Entry](string(recorded.ID)); !ok {
			f.Fatalf("%q is no id of an entry", recorded.ID)
		}
		if want.At = at; want.ID == "" {
			want.ID = recorded.ID
		}
		f.same(recorded, want)
		f.sorted(recorded.Data)
		f.sorted(recorded.Previous)
		alone, err := f.store.Activity().Get(f.ctx, recorded.ID)
		f.ok(err)
		f.same(alone, want)
		f.sorted(alone.Data)
	}
}

func eventNotFound(f *fixture) {
	f.found("acme")
	for _, which := range []id.Entry{"", "act_00000000000000000000000000", "' OR '1'='1"} {
		_, err := f.store.Activity().Get(f.ctx, which)
		f.code(err, fault.NotFound)
	}
}

func recording(events ...event.Event) unit {
	return func(ctx context.Context, tx store.Tx) error {
		for _, happened := range events {
			if err := tx.Record(ctx, happened); err != nil {
				return err
			}
		}
		return nil
	}
}

// sorted fails unless fields, and the fields within them, are sorted by name.
func (f *fixture) sorted(fields event.Fields) {
	f.Helper()
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
		if nested, ok := field.Value.(event.Fields); ok {
			f.sorted(nested)
		}
	}
	if !slices.IsSorted(names) {
		f.Fatalf("not sorted: %q", names)
	}
}

func eventNeedsActor(f *fixture) {
	noActor := founded(f.newCompany("acme"))
	noActor.Actor = ""
	f.refused(fault.Internal, recording(noActor))
	f.recorded(nil)
}

// recorded compares the types of all events, newest first, with want.
func (f *fixture) recorded(want []event.Type) {
	f.Helper()
	got, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, page.MaxSize)
	f.ok(err)
	var types []event.Type
	for _, happened := range got.Items {
		types = append(types, happened.Type)
	}
	f.same(types, want)
}

func eventKeepsDigits(f *fixture) {
	happened := founded(f.newCompany("acme"))
	happened.Data = event.Fields{
		event.F("a", money.USD(math.MaxInt64)), event.F("b", money.USD(math.MinInt64)), event.F("c", money.USD(1)),
		event.F("d", int64(math.MaxInt64)), event.F("e", int64(1<<53+1)), event.F("f", money.Percent(12_50)),
	}
	f.update(recording(happened))
	got, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, 1)
	f.ok(err)
	text, err := got.Items[0].Data.MarshalJSON()
	f.ok(err)
	f.same(string(text), `{"a":9223372036854.775807,"b":-9223372036854.775808,"c":0.000001,`+
		`"d":9223372036854775807,"e":9007199254740993,"f":12.5}`)
}

func activityList(f *fixture) {
	companies := []id.Company{"", "cmp_one", "cmp_two"}
	types := []event.Type{event.CompanyCreated, event.CompanyUpdated, event.TokenCreated}
	var all []event.Event
	for i := range 15 {
		if i%5 == 0 {
			f.clock.Advance(time.Millisecond) // so that five each are of one instant
		}
		happened := founded(f.newCompany("c"))
		happened.Company, happened.Type = companies[i%len(companies)], types[i/2%len(types)]
		happened.Subject.ID = fmt.Sprint(i)
		f.update(recording(happened))
		happened.At = f.clock.Now()
		all = append(all, happened)
	}
	slices.Reverse(all)

	unknown := id.Company("cmp_none")
	for _, company := range []*id.Company{nil, &companies[0], &companies[1], &unknown} {
		for _, kind := range append([]event.Type{"", "company.none"}, types...) {
			filter := store.ActivityFilter{Company: company, Type: kind}
			var want []event.Event
			for _, happened := range all {
				if (company == nil || *company == happened.Company) && (kind == "" || kind == happened.Type) {
					want = append(want, happened)
				}
			}
			for _, size := range []int{1, 2, len(all), page.MaxSize} {
				got := walk(f, size, func(after page.Position) (page.Page[event.Event], error) {
					return f.store.Activity().List(f.ctx, filter, after, size)
				})
				f.same(unstamped(got), want)
			}
		}
	}
}

// unstamped takes the ids away, which only the store knows.
func unstamped(events []event.Event) []event.Event {
	for i := range events {
		events[i].ID = ""
	}
	return events
}
