package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

var leadChangeRules = []rule{
	{"each change raises the revision, and is later than all before", leadAdvance},
	{"what changed since the backup that a store was restored from is lost", leadRestored},
	{"nothing is changed without an advance, and there is one in a unit", leadGuards},
	{"changes of leads, campaigns and the taxonomy need an event", leadChangesAreRecorded},
	{"changes are what was kept and what was removed after a revision", leadChanges},
	{"changes are read in ranges, each lead with its last change", leadChangesInRanges},
	{"marks are read in ranges of places, from old leads too", leadMarksInRanges},
	{"a unit that fails leaves all as it was", leadRollback},
	{"a unit reads what it changed, a view what there was", leadIsolation},
	{"imports at once take turns, and none is lost", leadContention},
}

func (f *fixture) leadStateIs(want lead.State) {
	f.Helper()
	got, err := f.store.Leads().State(f.ctx)
	f.ok(err)
	f.same(got, want)
}

// advancing is a unit that does nothing else.
func advancing(at *time.Time) unit {
	return func(ctx context.Context, tx store.Tx) (err error) {
		*at, err = tx.Leads().Advance(ctx)
		return err
	}
}

func leadRestored(f *fixture) {
	restoring := func() (at time.Time) {
		f.Helper()
		at = f.clock.Now()
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Leads().Restored(ctx)
		})
		return at
	}
	first := restoring() // though nothing was ever changed
	f.leadStateIs(lead.State{Revision: 1, ChangedAt: first, LostUntil: first})
	f.clock.Advance(time.Minute)
	var changed time.Time
	f.update(advancing(&changed))
	f.clock.Advance(time.Minute)
	second := restoring()
	f.leadStateIs(lead.State{Revision: 3, ChangedAt: second, LostAfter: changed, LostUntil: second})
	f.clock.Advance(time.Minute)
	var later time.Time
	f.update(advancing(&later)) // keeps it
	state := lead.State{Revision: 4, ChangedAt: later, LostAfter: changed, LostUntil: second}
	f.leadStateIs(state)
	for at, want := range map[time.Time]bool{
		{}: false, changed: false, changed.Add(time.Millisecond): true, second.Add(-1): true, second: false, later: false,
	} {
		f.same(state.HasLost(at), want)
	}
}

func leadAdvance(f *fixture) {
	var at time.Time
	f.update(advancing(&at))
	f.same(at, f.clock.Now())
	f.leadStateIs(lead.State{Revision: 1, ChangedAt: at})
	for i := range 3 {
		before := at
		f.update(advancing(&at)) // though the clock stands
		f.same(at, before.Add(time.Millisecond))
		f.leadStateIs(lead.State{Revision: lead.Revision(i + 2), ChangedAt: at})
	}
	f.clock.Advance(time.Hour)
	f.update(advancing(&at))
	f.same(at, f.clock.Now())
	f.clock.Advance(-time.Minute)
	f.update(advancing(&at))
	f.same(at, f.clock.Now().Add(time.Minute+time.Millisecond))
	f.leadStateIs(lead.State{Revision: 6, ChangedAt: at})
}

// leadChangers change leads, campaigns and the taxonomy in every way.
func leadChangers(at time.Time) map[string]unit {
	kept := lead.Stored{Lead: leadCalled("new", func(l *lead.Lead) { l.CreatedAt, l.UpdatedAt = at, at })}
	campaign := lead.Campaign{ID: "cam_new", Name: "New", Status: lead.StatusDraft, CreatedAt: at, UpdatedAt: at}
	taxonomy := lead.Taxonomy{Industries: []lead.Industry{{ID: "ind_new", Name: "New", Slug: "new"}}}
	return map[string]unit{
		"keep": func(ctx context.Context, tx store.Tx) error { return tx.Leads().Keep(ctx, []lead.Stored{kept}) },
		"campaign": func(ctx context.Context, tx store.Tx) error {
			return tx.Campaigns().Keep(ctx, []lead.Campaign{campaign})
		},
		"count": func(ctx context.Context, tx store.Tx) error {
			return tx.Campaigns().Count(ctx, map[id.Campaign]int64{"cam_old": 1})
		},
		"taxonomy": func(ctx context.Context, tx store.Tx) error { return tx.Taxonomy().Keep(ctx, taxonomy) },
		"remove": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Leads().Remove(ctx, []id.Lead{"cmp_old"}, at)
			return err
		},
	}
}

// withOldLeads has a lead, a campaign and a taxonomy.
func (f *fixture) withOldLeads() []lead.Stored {
	f.Helper()
	var kept []lead.Stored
	f.update(func(ctx context.Context, tx store.Tx) (err error) {
		if kept, err = importing(ctx, tx, fullLead("old")); err != nil {
			return err
		}
		at := kept[0].UpdatedAt
		if err := tx.Campaigns().Keep(ctx, []lead.Campaign{{ID: "cam_old", Name: "Old", CreatedAt: at, UpdatedAt: at}}); err != nil {
			return err
		}
		return tx.Taxonomy().Keep(ctx, lead.Taxonomy{Industries: []lead.Industry{{ID: "ind_old", Name: "Old", Slug: "old"}}})
	})
	return kept
}

// oldLeadsAre tests the store against what withOldLeads left.
func (f *fixture) oldLeadsAre(kept []lead.Stored) {
	f.Helper()
	f.leadsAre(f.store.Leads(), map[id.Lead]lead.Revision{"cmp_old": 1}, kept...)
	f.leadStateIs(lead.State{Revision: 1, Taxonomy: 1, ChangedAt: kept[0].UpdatedAt})
	ids, err := f.store.Campaigns().IDs(f.ctx)
	f.ok(err)
	f.same(ids, []id.Campaign{"cam_old"})
	old, err := f.store.Campaigns().Get(f.ctx, "cam_old")
	f.ok(err)
	f.same(old.LeadCount, int64(0))
	taxonomy, err := f.store.Taxonomy().Get(f.ctx)
	f.ok(err)
	f.same(len(taxonomy.Industries), 1)
	removed, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Size: 1})
	f.ok(err)
	f.same(removed.Total, int64(0))
}

func leadGuards(f *fixture) {
	kept := f.withOldLeads()
	for name, change := range leadChangers(f.clock.Now()) {
		err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return change(ctx, tx)
		})
		if fault.CodeOf(err) != fault.Internal {
			f.Errorf("%s without an advance: %v", name, err)
		}
	}
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		_, err := tx.Leads().Advance(ctx)
		return err
	})
	f.oldLeadsAre(kept)
}

func leadChangesAreRecorded(f *fixture) {
	kept := f.withOldLeads()
	for name, change := range leadChangers(f.clock.Now()) {
		err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.Leads().Advance(ctx); err != nil {
				return err
			}
			return change(ctx, tx)
		})
		if fault.CodeOf(err) != fault.Internal {
			f.Errorf("%s in silence: %v", name, err)
		}
	}
	f.oldLeadsAre(kept)
}

func leadRollback(f *fixture) {
	kept := f.withOldLeads()
	given := errors.New("given up")
	err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		for _, change := range leadChangers(at) {
			if err := change(ctx, tx); err != nil {
				return err
			}
		}
		return given
	})
	if !errors.Is(err, given) {
		f.Fatalf("the unit ended with %v", err)
	}
	f.oldLeadsAre(kept)
}

// changesSince reads what changed after a revision, with keys of what was removed.
func (f *fixture) changesSince(since lead.Revision) (kept []store.LeadMark, removed []int64) {
	f.Helper()
	changes, err := f.store.Leads().Changes(f.ctx, store.ChangeCursor{Revision: since, Key: math.MaxInt64}, unlimited)
	f.ok(err)
	for _, change := range changes {
		if !change.Removed {
			kept = append(kept, change.LeadMark)
			continue
		}
		removed = append(removed, change.Key)
		f.same(change, store.LeadChange{Revision: change.Revision, Removed: true, LeadMark: store.LeadMark{Key: change.Key}})
	}
	return kept, removed
}

func leadChanges(f *fixture) {
	expect := func(since lead.Revision, removed []int64, want ...store.LeadMark) {
		f.Helper()
		marks, keys := f.changesSince(since)
		f.same(marks, want)
		f.same(keys, removed)
	}
	expect(0, nil)
	one, two, three := fullLead("one"), fullLead("two"), leadCalled("three")
	first := f.imports(one, two, three) // 1, in the order of ids
	markOne, markThree, markTwo := markOf(1, first[0]), markOf(2, first[1]), markOf(3, first[2])
	expect(0, nil, markOne, markThree, markTwo)
	expect(1, nil)

	one.Name = "New"
	markOne = markOf(1, f.imports(one)[0]) // 2
	expect(1, nil, markOne)
	expect(0, nil, markThree, markTwo, markOne)

	f.removes(two.ID) // 3
	expect(2, []int64{3})
	expect(1, []int64{3}, markOne)
	expect(0, []int64{3}, markThree, markOne)
	expect(3, nil)

	two.Campaigns = []id.Campaign{"cam_3"}
	markTwo = markOf(3, f.imports(two)[0]) // 4
	expect(2, nil, markTwo)
	expect(0, nil, markThree, markOne, markTwo)
	f.removes(one.ID, three.ID) // 5
	expect(4, []int64{1, 2})
	expect(3, []int64{1, 2}, markTwo)
	expect(1<<40, nil)
}

// withOwnTimes keeps leads that come with timestamps of their own, in two units, and returns them by id.
func (f *fixture) withOwnTimes() map[id.Lead]lead.Lead {
	f.Helper()
	const count = 300
	at := f.clock.Now()
	leads, byID := make([]lead.Lead, count), map[id.Lead]lead.Lead{}
	for i := range leads {
		leads[i] = leadCalled(fmt.Sprint(i*7%count), func(l *lead.Lead) {
			l.CreatedAt, l.UpdatedAt = at, at.Add(-time.Duration(i*31%17)*time.Hour)
			l.Campaigns = []id.Campaign{id.Campaign(fmt.Sprint("cam_", i%3)), id.Campaign(fmt.Sprint("cam_", 3+i%5))}
		})
		byID[leads[i].ID] = leads[i]
	}
	f.imports(leads[:100]...)
	f.imports(leads[100:]...)
	return byID
}

func leadChangesInRanges(f *fixture) {
	leads := f.withOwnTimes()
	f.removes("cmp_1", "cmp_200")
	const size = 7
	var after store.ChangeCursor
	var kept, removed int
	for more := true; more; {
		changes, err := f.store.Leads().Changes(f.ctx, after, size)
		f.ok(err)
		more = len(changes) == size
		for _, change := range changes {
			if cursor := change.Cursor(); cursor.Revision < after.Revision || cursor.Revision == after.Revision && cursor.Key <= after.Key {
				f.Fatalf("%v comes after %v", cursor, after)
			}
			after = change.Cursor()
			if change.Removed {
				removed++
				f.same(change.Revision, lead.Revision(3))
				continue
			}
			kept++
			f.same(change.LeadMark, markOf(change.Key, lead.Stored{Lead: leads[change.Place.ID]}))
		}
	}
	f.same([]int{kept, removed}, []int{len(leads) - 2, 2})
}

func leadMarksInRanges(f *fixture) {
	last, err := f.store.Leads().Last(f.ctx)
	f.ok(err)
	f.same(last, lead.Place{})
	leads := f.withOwnTimes()
	f.removes("cmp_1")
	last, err = f.store.Leads().Last(f.ctx)
	f.ok(err)
	const size = 7
	var after lead.Place
	count := 0
	for more := true; more; {
		marks, err := f.store.Leads().Marks(f.ctx, after, last, size)
		f.ok(err)
		more = len(marks) == size
		for _, mark := range marks {
			if mark.Place.Compare(after) <= 0 {
				f.Fatalf("%v comes after %v", mark.Place, after)
			}
			after = mark.Place
			f.same(mark, markOf(mark.Key, lead.Stored{Lead: leads[mark.Place.ID]}))
			count++
		}
	}
	f.same(count, len(leads)-1)
	f.same(after, last)

	middle := leads["cmp_2"].Place()
	before, err := f.store.Leads().Marks(f.ctx, lead.Place{}, middle, unlimited)
	f.ok(err)
	later, err := f.store.Leads().Marks(f.ctx, middle, last, unlimited)
	f.ok(err)
	f.same(before[len(before)-1].Place, middle)
	f.same(len(before)+len(later), count)
}

func leadIsolation(f *fixture) {
	one := fullLead("one")
	before := f.imports(one)
	one.Name = "Other"
	f.ok(f.store.View(f.ctx, func(_ context.Context, r store.Reader) error {
		f.leadsAre(r.Leads(), map[id.Lead]lead.Revision{one.ID: 1}, before...)
		f.update(func(ctx context.Context, tx store.Tx) error {
			kept, err := importing(ctx, tx, one, leadCalled("two"))
			if err != nil {
				return err
			}
			f.leadsAre(tx.Leads(), map[id.Lead]lead.Revision{one.ID: 2, "cmp_two": 2}, kept...)
			return nil
		})
		f.leadsAre(r.Leads(), map[id.Lead]lead.Revision{one.ID: 1}, before...)
		return nil
	}))
}

// leadContention lets some import at once, each the same leads and some of its own, many times.
func leadContention(f *fixture) {
	const importers, rounds = 4, 8
	errs := together(importers, func(i int) error {
		for round := range rounds {
			shared := leadCalled("shared", func(l *lead.Lead) { l.Name = fmt.Sprint(i, round) })
			own := leadCalled(fmt.Sprintf("%d-%d", i, round))
			err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
				_, err := importing(ctx, tx, shared, own)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	f.exactly(errs, map[fault.Code]int{"": importers})
	state, err := f.store.Leads().State(f.ctx)
	f.ok(err)
	f.same(state.Revision, lead.Revision(importers*rounds))
	marks, _ := f.changesSince(0)
	f.same(len(marks), importers*rounds+1)
	instants, keys := map[time.Time]int{}, map[int64]bool{}
	for _, mark := range marks {
		instants[mark.Place.UpdatedAt]++
		keys[mark.Key] = true
	}
	f.same(len(instants), importers*rounds) // one for each import; the last has the shared lead too
	f.same(len(keys), len(marks))
}
