package storetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"holdco/domain/audit"
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
	{"lists and exports have what a filter matches", activityFilters},
	{"events are followed in the order of their commits, up to a place", activityFollowed},
	{"no place is given twice, though events go with their company", activityPlacedOnce},
	{"events are chained from where the chains end, by one of all that try", activityChained},
}

// manyEvents records events of two companies that differ in all that a filter asks for, and returns them as they are listed.
func (f *fixture) manyEvents() []event.Event {
	f.Helper()
	types := []event.Type{event.IssueCreated, event.IssueFailed, event.AgentHired, event.CompanyBudgetBreach, event.RunCheckpointed}
	for n := range 40 {
		if n%7 == 0 {
			f.clock.Advance(time.Millisecond)
		}
		what := types[n%len(types)]
		happened := event.Of(what, []id.Company{"cmp_one", "cmp_two", ""}[n%3], fmt.Sprint(what.Kind(), "_", n%4), event.Fields{
			event.F("title", fmt.Sprint("Straße ", n%6)), event.F("issueId", fmt.Sprint("iss_", n%2)),
			event.F("runId", fmt.Sprint("run_", n%5)),
		})
		f.update(recording(happened.By([]event.Actor{"token:tok_a", "agent:agt_a", "system:sweep"}[n/2%3])))
	}
	got, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, page.MaxSize)
	f.ok(err)
	return got.Items
}

func activityFilters(f *fixture) {
	all := f.manyEvents()
	last := store.Last
	for _, company := range []*id.Company{nil, new(id.Company("")), new(id.Company("cmp_one"))} {
		for _, filter := range []store.ActivityFilter{
			{}, {Type: event.IssueFailed}, {Categories: []string{"task", "budget"}}, {Categories: []string{"task"}, Type: event.AgentHired},
			{Actor: "agent:agt_a"}, {Actor: "agent:"}, {Actor: "agent:agt_a", Type: event.IssueCreated},
			{Subject: event.Subject{Type: "issue"}}, {Subject: event.Subject{Type: "issue", ID: "issue_1"}},
			{Related: event.Related{Issue: "iss_1"}}, {Related: event.Related{Run: "run_3"}}, {Related: event.Related{Agent: "agt_a"}},
			{Related: event.Related{Issue: "issue_0", Run: "run_0"}}, {Words: []string{"strasse", "3"}}, {Words: []string{"none"}},
			{Words: []string{"strasse"}, Categories: []string{"budget", "run"}}, {Since: all[20].At},
			{Until: all[20].At, Type: event.IssueCreated},
		} {
			filter.Company = company
			var want []event.Event
			for _, one := range all {
				if filter.Matches(one) {
					want = append(want, one)
				}
			}
			for _, size := range []int{1, 3, page.MaxSize} {
				f.same(walk(f, size, func(after page.Position) (page.Page[event.Event], error) {
					return f.store.Activity().List(f.ctx, filter, after, size)
				}), want)
			}
			var exported []event.Event
			for after := (page.Position{}); ; {
				some, err := f.store.Activity().Export(f.ctx, filter, after, last, 3)
				f.ok(err)
				exported = append(exported, some.Items...)
				if after = some.Next; after.IsStart() {
					break
				}
			}
			slices.Reverse(exported)
			f.same(exported, want)
		}
	}
}

func activityFollowed(f *fixture) {
	first, last, err := f.store.Activity().Ends(f.ctx, nil)
	f.ok(err)
	f.same([]*store.Placed{first, last}, []*store.Placed{nil, nil})
	all := f.manyEvents()
	slices.Reverse(all)
	for _, company := range []*id.Company{nil, new(id.Company("cmp_two"))} {
		var want, got []string
		for _, one := range all {
			if company == nil || one.Company == *company {
				want = append(want, string(one.ID))
			}
		}
		var places []store.Place
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // others' transactions may run on the same server
			_, end, err := f.store.Activity().Ends(f.ctx, company)
			f.ok(err)
			if end != nil && string(end.ID) == want[len(want)-1] {
				break
			}
			if time.Now().After(deadline) {
				f.Fatalf("the last event is not followed: %v", end)
			}
		}
		for after := (store.Place{}); ; {
			some, err := f.store.Activity().Follow(f.ctx, company, after, store.Last, 3)
			f.ok(err)
			for _, one := range some {
				got, places, after = append(got, string(one.ID)), append(places, one.Place), one.Place
			}
			if len(some) < 3 {
				break
			}
		}
		f.same(got, want)
		if !slices.IsSortedFunc(places, store.Place.Compare) {
			f.Fatalf("not in order: %v", places)
		}
		some, err := f.store.Activity().Follow(f.ctx, company, places[0], places[3], 100)
		f.ok(err)
		f.same(len(some), 3)
		placed, err := f.store.Activity().Placed(f.ctx, some[0].ID)
		f.ok(err)
		f.same(placed, some[0])
		begin, _, err := f.store.Activity().Ends(f.ctx, company)
		f.ok(err)
		f.same(string(begin.ID), want[0])
	}
	_, err = f.store.Activity().Placed(f.ctx, "act_none")
	f.code(err, fault.NotFound)
	f.update(func(ctx context.Context, tx store.Tx) error {
		moved, err := tx.Activity().Reorder(ctx)
		if err == nil && moved {
			err = fmt.Errorf("events of this database were taken for those of another")
		}
		return err
	})
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

func activityChained(f *fixture) {
	company := f.found("chained")
	f.update(recording(event.Of(event.TokenCreated, "", "tok_a", nil).By("system:test")))
	all, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, page.MaxSize)
	f.ok(err)
	slices.Reverse(all.Items)

	heads := []id.Company{company.ID, "", "cmp_none"}
	found, err := f.store.Activity().Heads(f.ctx, heads)
	f.ok(err)
	f.same(found, map[id.Company]store.Head{company.ID: {}, "": {}})
	extend := func(portion store.ChainedPortion) (done bool) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) (err error) {
			done, err = tx.Activity().Extend(ctx, portion)
			return err
		})
		return done
	}
	want := map[id.Company]store.Head{}
	links := map[id.Entry]audit.Link{}
	portion := store.ChainedPortion{To: store.Place{Transaction: 7, Sequence: 9}}
	for _, one := range all.Items {
		head := store.Head{Entry: one.ID, Link: want[one.Company].Link.Next([]byte(one.ID)), At: f.clock.Now()}
		want[one.Company], links[one.ID] = head, head.Link
		portion.Links = append(portion.Links, store.ChainedLink{Company: one.Company, Entry: one.ID, Link: head.Link})
	}
	f.same(extend(store.ChainedPortion{From: portion.To, To: portion.To}), false)
	gone := f.found("gone")
	f.remove(gone.ID)
	late := portion
	late.Links = append(slices.Clone(portion.Links), store.ChainedLink{Company: gone.ID, Entry: "act_gone", Link: audit.Link{}.Next(nil)})
	f.same(extend(late), false)
	f.same(extend(portion), true)
	f.same(extend(portion), false)
	at, err := f.store.Activity().Chained(f.ctx)
	f.ok(err)
	f.same(at, portion.To)
	found, err = f.store.Activity().Heads(f.ctx, heads)
	f.ok(err)
	f.same(found, want)
	got, err := f.store.Activity().Links(f.ctx, slices.Collect(maps.Keys(links)))
	f.ok(err)
	f.same(got, links)

	for _, of := range heads {
		length, err := f.store.Activity().Length(f.ctx, of)
		f.ok(err)
		f.same(length, want[of].Link.Number)
	}
	for _, of := range heads[:2] {
		var walked []store.Chained
		for after := (store.ChainPosition{}); ; {
			some, err := f.store.Activity().Chain(f.ctx, of, after, 1)
			f.ok(err)
			if len(some) == 0 {
				break
			}
			walked, after = append(walked, some...), some[0].Position()
		}
		var chain []store.Chained
		for n, one := range all.Items {
			if one.Company == of {
				chain = append(chain, store.Chained{Entry: one.ID, Link: links[one.ID], Event: &all.Items[n]})
			}
		}
		f.same(walked, chain)
	}
}

// chaining chains an event of the instance, in a store where nothing is chained.
func chaining(ctx context.Context, tx store.Tx) error {
	_, err := tx.Activity().Extend(ctx, store.ChainedPortion{To: store.Place{Sequence: 1}, Links: []store.ChainedLink{
		{Entry: "act_chained", Link: audit.Link{}.Next(nil)},
	}})
	return err
}

func activityPlacedOnce(f *fixture) {
	newest := func() store.Placed {
		f.Helper()
		found, err := f.store.Activity().List(f.ctx, store.ActivityFilter{}, page.Position{}, 1)
		f.ok(err)
		placed, err := f.store.Activity().Placed(f.ctx, found.Items[0].ID)
		f.ok(err)
		return placed
	}
	leaving := f.found("leaving")
	last := newest()
	f.same(last.Company, leaving.ID)
	f.remove(leaving.ID)
	f.update(recording(event.Of(event.TokenCreated, "", "tok_a", nil).By("system:test")))
	if next := newest(); next.Place.Compare(last.Place) <= 0 {
		f.Errorf("after %v comes %v", last.Place, next.Place)
	}
}
