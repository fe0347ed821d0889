package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

var leadRules = []rule{
	{"at first there is nothing", leadsEmpty},
	{"a lead reads back as it was kept, in every way", leadReadsBack},
	{"what is not there is not found", leadNotFound},
	{"a lead that is kept again is replaced as a whole, under its key", leadReplaced},
	{"as many leads as allowed are kept and read at once", leadsMost},
	{"leads are kept in several portions of one unit", leadsInPortions},
	{"keys are small, and leads that are kept together follow each other", leadKeys},
	{"texts of a lead are kept to the last byte", leadTexts},
	{"a removed lead is gone for every reader", leadRemoved},
	{"remove returns what was there, each once", leadRemoveReturns},
	{"the place of a removed lead is the earliest from which a stream resumes", leadRemovedPlace},
	{"a lead that comes back is removed no more, and has its key again", leadReturns},
	{"removed leads come by the instant and by id, in pages", leadsRemovedPages},
	{"suppressions read back in their order until they are released, and each change moves their revision", leadsSuppressed},
	{"the key of suppressions is kept, and is sealed anew with all else", leadSuppressionKey},
}

// leadCalled makes a lead that is in no store yet, altered by each of alter.
func leadCalled(name string, alter ...func(*lead.Lead)) lead.Lead {
	l := lead.Lead{ID: id.Lead("cmp_" + name), Name: "Lead " + name, Rating: lead.Unrated, Enrichment: lead.None}
	for _, change := range alter {
		change(&l)
	}
	return l
}

// fullLead has everything that a lead can have.
func fullLead(name string) lead.Lead {
	return leadCalled(name, func(l *lead.Lead) {
		l.Phone, l.Email, l.Website = "+49 30 1", "info@example.com", "https://example.com"
		l.Rating, l.Enrichment = 425, lead.Deep
		l.Social = lead.Social{Instagram: "https://i.example", Facebook: "https://f.example", LinkedIn: "https://l.example"}
		l.Industry, l.Vertical = "ind_food", "vrt_bakery"
		l.Contacts = []lead.Contact{{ID: "cnt_1", Name: "Ada", Title: "Head", Email: "ada@example.com", Primary: true}}
		l.Campaigns = []id.Campaign{"cam_1", "cam_2"}
	})
}

// imports imports leads in one unit, as the application does, and returns what was kept.
func (f *fixture) imports(leads ...lead.Lead) []lead.Stored {
	f.Helper()
	var kept []lead.Stored
	f.update(func(ctx context.Context, tx store.Tx) (err error) {
		kept, err = importing(ctx, tx, leads...)
		return err
	})
	return kept
}

func importing(ctx context.Context, tx store.Tx, leads ...lead.Lead) ([]lead.Stored, error) {
	tx.Unrecorded()
	at, err := tx.Leads().Advance(ctx)
	if err != nil {
		return nil, err
	}
	return importingAt(ctx, tx, at, leads...)
}

func importingAt(ctx context.Context, tx store.Tx, at time.Time, leads ...lead.Lead) ([]lead.Stored, error) {
	batch, ids := make([]lead.Incoming, len(leads)), make([]id.Lead, len(leads))
	for i, one := range leads {
		batch[i] = one.Incoming()
		ids[i] = one.ID
	}
	stored, err := tx.Leads().Summaries(ctx, ids)
	if err != nil {
		return nil, err
	}
	merged := lead.Merge(batch, stored, at)
	return merged.Changed, tx.Leads().Keep(ctx, merged.Changed)
}

// removes removes leads in one unit, and returns its instant and what was there.
func (f *fixture) removes(ids ...id.Lead) (at time.Time, removed []lead.Summary) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) (err error) {
		tx.Unrecorded()
		if at, err = tx.Leads().Advance(ctx); err != nil {
			return err
		}
		removed, err = tx.Leads().Remove(ctx, ids, at)
		return err
	})
	return at, removed
}

func exportedOf(kept lead.Stored) lead.Exported {
	return lead.Exported{
		Place: kept.Place(), MovedFrom: kept.MovedFrom, Industry: kept.Industry, Vertical: kept.Vertical, Document: documentOf(kept.Lead),
	}
}

func allExported(kept []lead.Stored) []lead.Exported {
	all := make([]lead.Exported, len(kept))
	for i, one := range kept {
		all[i] = exportedOf(one)
	}
	return all
}

func summaryOf(kept lead.Stored) lead.Summary {
	return lead.Summary{
		ID: kept.ID, Digest: kept.Digest, Campaigns: kept.Campaigns,
		CreatedAt: kept.CreatedAt, UpdatedAt: kept.UpdatedAt, MovedFrom: kept.MovedFrom,
	}
}

func markOf(key int64, kept lead.Stored) store.LeadMark {
	return store.LeadMark{
		Key: key, Place: kept.Place(), Campaigns: kept.Campaigns, Industry: kept.Industry, Vertical: kept.Vertical,
		HasWebsite: kept.Website != "", Rating: kept.Rating, Enrichment: kept.Enrichment, CreatedAt: kept.CreatedAt,
		Domain: lead.HashOf(lead.DomainOf(kept.Website)), Email: lead.HashOf(lead.EmailOf(kept.Email)),
	}
}

// unlimited is more leads than any rule keeps.
const unlimited = 100_000

// marks are those of all leads, by their ids.
func (f *fixture) marks(r store.LeadReader) map[id.Lead]store.LeadMark {
	f.Helper()
	marks := map[id.Lead]store.LeadMark{}
	last, err := r.Last(f.ctx)
	f.ok(err)
	found, err := r.Marks(f.ctx, lead.Place{}, last, unlimited)
	f.ok(err)
	for _, mark := range found {
		marks[mark.Place.ID] = mark
	}
	return marks
}

// leadsAre compares every way to read leads with all that are kept.
func (f *fixture) leadsAre(r store.LeadReader, revisions map[id.Lead]lead.Revision, want ...lead.Stored) {
	f.Helper()
	slices.SortFunc(want, func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) })
	found, err := r.Search(f.ctx, lead.Query{Size: len(want) + 1})
	f.ok(err)
	f.same(found.Leads, allExported(want))
	f.same(found.Total, int64(len(want)))

	marks := f.marks(r)
	f.same(len(marks), len(want))
	ids, keys := make([]id.Lead, len(want)), make([]int64, len(want))
	for i, kept := range want {
		exported, err := r.Get(f.ctx, kept.ID)
		f.ok(err)
		f.same(exported, exportedOf(kept))
		f.same(marks[kept.ID], markOf(marks[kept.ID].Key, kept))
		ids[i], keys[i] = kept.ID, marks[kept.ID].Key
	}
	contents, err := r.Contents(f.ctx, ids)
	f.ok(err)
	f.same(len(contents), len(want))
	for _, one := range want {
		f.same(contents[one.ID], one.Lead)
	}
	stored, err := r.Summaries(f.ctx, ids)
	f.ok(err)
	keyed, err := r.Keyed(f.ctx, keys)
	f.ok(err)
	sizes, err := r.KeyedSizes(f.ctx, append(keys, 1<<40)) // there is no such key
	f.ok(err)
	f.same(len(stored), len(want))
	f.same(len(keyed), len(want))
	f.same(len(sizes), len(want))
	byKey := map[int64]store.KeyedLead{}
	for _, one := range keyed {
		byKey[one.Key] = one
	}
	for i, kept := range want {
		f.same(stored[kept.ID], summaryOf(kept))
		f.same(sizes[keys[i]] >= byKey[keys[i]].Exported.Document.Size(), true)
		f.same(byKey[keys[i]], store.KeyedLead{Key: keys[i], Revision: revisions[kept.ID], Exported: exportedOf(kept)})
	}
}

func leadsEmpty(f *fixture) {
	f.leadsAre(f.store.Leads(), nil)
	state, err := f.store.Leads().State(f.ctx)
	f.ok(err)
	f.same(state, lead.State{})
	keyed, err := f.store.Leads().Keyed(f.ctx, nil)
	f.ok(err)
	f.same(len(keyed), 0)
	removed, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Size: 10})
	f.ok(err)
	f.same(removed, lead.RemovedPage{})
}

func leadReadsBack(f *fixture) {
	bare, full := leadCalled("bare"), fullLead("full")
	moved := fullLead("moved")
	first := f.imports(bare, full)
	f.imports(moved)
	f.clock.Advance(time.Minute)
	moved.Name = "Moved"
	again := f.imports(moved)
	f.same(again[0].MovedFrom.IsZero(), false)
	f.leadsAre(f.store.Leads(), map[id.Lead]lead.Revision{bare.ID: 1, full.ID: 1, moved.ID: 3}, append(first, again...)...)
}

func leadNotFound(f *fixture) {
	kept := f.imports(fullLead("some"))
	for _, text := range []string{"", "cmp_", "cmp_none", "cmp_Some", "CMP_SOME", "cmp_som%", "cmp_som_", "' OR '1'='1"} {
		_, err := f.store.Leads().Get(f.ctx, id.Lead(text))
		f.code(err, fault.NotFound)
		_, err = f.store.Leads().RemovedPlace(f.ctx, lead.View{}, id.Lead(text))
		f.code(err, fault.NotFound)
	}
	_, err := f.store.Leads().RemovedPlace(f.ctx, lead.View{}, kept[0].ID)
	f.code(err, fault.NotFound)
	stored, err := f.store.Leads().Summaries(f.ctx, []id.Lead{"", "cmp_none", kept[0].ID, "cmp_'\"\\\x01"})
	f.ok(err)
	f.same(stored, map[id.Lead]lead.Summary{kept[0].ID: summaryOf(kept[0])})
	contents, err := f.store.Leads().Contents(f.ctx, []id.Lead{"", "cmp_none", kept[0].ID, "cmp_'\"\\\x01"})
	f.ok(err)
	f.same(contents, map[id.Lead]lead.Lead{kept[0].ID: kept[0].Lead})
	stored, err = f.store.Leads().Summaries(f.ctx, nil)
	f.ok(err)
	f.same(len(stored), 0)
	key := f.marks(f.store.Leads())[kept[0].ID].Key
	for _, keys := range [][]int64{{0}, {-1}, {key + 1}, {key + 1, key + 2}, {key + 1, key + 3}, {1 << 62}} {
		keyed, err := f.store.Leads().Keyed(f.ctx, keys)
		f.ok(err)
		f.same(len(keyed), 0)
	}
}

func leadReplaced(f *fixture) {
	others := f.imports(leadCalled("a"), leadCalled("z"))
	one := fullLead("one")
	first := f.imports(one)
	key := f.marks(f.store.Leads())[one.ID].Key
	other := leadCalled("one", func(l *lead.Lead) {
		l.Industry, l.Vertical, l.Campaigns, l.Rating = "ind_x", "", []id.Campaign{"cam_3"}, 0
	})
	second := f.imports(other)
	f.leadsAre(f.store.Leads(), map[id.Lead]lead.Revision{"cmp_a": 1, "cmp_z": 1, one.ID: 3}, slices.Concat(others, second)...)
	f.same(f.marks(f.store.Leads())[one.ID].Key, key)

	bare := leadCalled("one")
	bare.CreatedAt, bare.UpdatedAt = first[0].CreatedAt.Add(-time.Hour), first[0].UpdatedAt.Add(-time.Hour)
	third := f.imports(bare)
	f.leadsAre(f.store.Leads(), map[id.Lead]lead.Revision{"cmp_a": 1, "cmp_z": 1, one.ID: 4}, slices.Concat(others, third)...)
	f.same(f.marks(f.store.Leads())[one.ID].Key, key)
}

// manyLeads makes n leads with ids in another order than their numbers.
func manyLeads(n int) []lead.Lead {
	leads := make([]lead.Lead, n)
	for i := range leads {
		leads[i] = leadCalled(fmt.Sprintf("%x%d", i*7919%16, i), func(l *lead.Lead) { l.Website = strings.Repeat("w", i%3) })
	}
	return leads
}

func leadsMost(f *fixture) {
	leads := manyLeads(store.MostKept)
	f.imports(leads...)
	for i := range leads {
		if i%2 == 0 {
			leads[i].Name += " changed"
		}
	}
	f.same(len(f.imports(leads...)), store.MostKept/2)

	var keys []int64
	for _, mark := range f.marks(f.store.Leads()) {
		keys = append(keys, mark.Key)
	}
	f.same(len(keys), store.MostKept)
	slices.Sort(keys)
	for _, some := range [][]int64{keys[:store.MostKeyed], keys[500 : 500+store.MostKeyed]} {
		f.hasKeys(some)
	}
	var spacedKeys []int64
	for i := 1; i < len(keys); i += 2 {
		spacedKeys = append(spacedKeys, keys[len(keys)-i])
	}
	f.hasKeys(spacedKeys)
	f.hasKeys(spacedKeys[:100])
	f.hasKeys(spacedKeys[:101])
	f.hasKeys([]int64{keys[3], keys[1], keys[2]})
	f.hasKeys([]int64{keys[0]})
}

// hasKeys reads leads by their keys, of which each must be there.
func (f *fixture) hasKeys(keys []int64) {
	f.Helper()
	keyed, err := f.store.Leads().Keyed(f.ctx, keys)
	f.ok(err)
	got := make([]int64, len(keyed))
	for i, one := range keyed {
		got[i] = one.Key
	}
	slices.Sort(got)
	f.same(got, slices.Sorted(slices.Values(keys)))
}

func leadsInPortions(f *fixture) {
	first := f.imports(leadCalled("b"))
	var remaining []lead.Stored
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		remaining = nil
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		for _, name := range []string{"c", "a", "d"} {
			kept, err := importingAt(ctx, tx, at, leadCalled(name), leadCalled(name+name))
			if err != nil {
				return err
			}
			remaining = append(remaining, kept...)
		}
		// Without a look at how they stand, and what the unit itself has kept.
		once := first[0]
		once.UpdatedAt = at
		remaining[0].Name = "twice"
		if err := tx.Leads().Keep(ctx, []lead.Stored{remaining[0]}); err != nil {
			return err
		}
		first = []lead.Stored{once}
		return tx.Leads().Keep(ctx, first)
	})
	revisions := map[id.Lead]lead.Revision{}
	for _, one := range append(remaining, first...) {
		revisions[one.ID] = 2
	}
	f.leadsAre(f.store.Leads(), revisions, append(remaining, first...)...)
}

func leadKeys(f *fixture) {
	var leads []lead.Lead
	for i := range 50 {
		leads = append(leads, leadCalled(fmt.Sprintf("%02d", i)))
	}
	f.imports(leads...)
	for range 3 { // no key is lost when a unit fails, or when leads are replaced
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			if _, err := importing(ctx, tx, leadCalled("failed")); err != nil {
				return err
			}
			return fault.New(fault.NotFound, "Not this time.")
		})
		for i := range leads {
			leads[i].Name += "!"
		}
		f.imports(leads...)
	}
	f.imports(leadCalled("last"))
	marks := f.marks(f.store.Leads())
	for i, one := range leads {
		f.same(marks[one.ID].Key, int64(i+1))
	}
	f.same(marks["cmp_last"].Key, int64(len(leads)+1))
}

func leadTexts(f *fixture) {
	for i, text := range append(texts, "two\nlines \"and\\n\" more", strings.Repeat("long\n", 50_000)) {
		one := fullLead(fmt.Sprintf("text-%d", i))
		one.Name = text
		kept := f.imports(one)
		got, err := f.store.Leads().Get(f.ctx, one.ID)
		f.ok(err)
		f.same(got, exportedOf(kept[0]))
	}
}

func leadRemoved(f *fixture) {
	stays := f.imports(fullLead("stays"))
	goes := f.imports(fullLead("goes"))[0]
	key := f.marks(f.store.Leads())["cmp_goes"].Key
	at, _ := f.removes("cmp_goes")

	f.leadsAre(f.store.Leads(), map[id.Lead]lead.Revision{"cmp_stays": 1}, stays...)
	_, err := f.store.Leads().Get(f.ctx, "cmp_goes")
	f.code(err, fault.NotFound)
	stored, err := f.store.Leads().Summaries(f.ctx, []id.Lead{"cmp_goes"})
	f.ok(err)
	f.same(stored, map[id.Lead]lead.Summary{"cmp_goes": {UpdatedAt: goes.UpdatedAt}})
	keyed, err := f.store.Leads().Keyed(f.ctx, []int64{key})
	f.ok(err)
	f.same(len(keyed), 0)
	for _, filter := range []lead.Filter{inIndustry("ind_food"), inCampaign("cam_1"), enrichedAs(lead.Deep)} {
		found, err := f.store.Leads().Search(f.ctx, lead.Query{Filter: filter, Size: 10})
		f.ok(err)
		f.same(found.Total, int64(1))
	}
	removed, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Size: 10})
	f.ok(err)
	f.same(removed, lead.RemovedPage{
		State: lead.State{Revision: 3, ChangedAt: at}, Leads: []lead.RemovedLead{{ID: "cmp_goes", RemovedAt: at}}, Total: 1,
	})
}

func leadRemoveReturns(f *fixture) {
	kept := f.imports(leadCalled("a"), fullLead("b"), fullLead("c"))
	_, removed := f.removes()
	f.same(len(removed), 0)
	_, removed = f.removes("cmp_c", "cmp_none", "", "cmp_a", "cmp_c", "' OR '1'='1")
	f.same(removed, []lead.Summary{summaryOf(kept[2]), summaryOf(kept[0])})
	_, removed = f.removes("cmp_a", "cmp_b", "cmp_a")
	f.same(removed, []lead.Summary{summaryOf(kept[1])})
	_, removed = f.removes("cmp_a", "cmp_b", "cmp_c")
	f.same(len(removed), 0)
	f.leadsAre(f.store.Leads(), nil)
}

func leadRemovedPlace(f *fixture) {
	change := func(name string) lead.Stored {
		one := leadCalled(name)
		if _, err := f.store.Leads().Get(f.ctx, one.ID); err == nil {
			one.Name += fmt.Sprint(f.clock.Now())
		}
		return f.imports(one)[0]
	}
	places := map[string]lead.Place{}
	for _, name := range []string{"soon", "late", "twice", "never"} {
		places[name] = change(name).Place()
	}
	f.clock.Advance(2 * lead.ResumeWindow)
	places["late"] = change("late").Place()
	change("twice")
	f.clock.Advance(lead.ResumeWindow / 2)
	change("twice")
	change("soon")
	f.clock.Advance(lead.ResumeWindow * 2 / 3)
	f.removes("cmp_soon", "cmp_late", "cmp_twice", "cmp_never")
	f.clock.Advance(3 * lead.ResumeWindow)
	for name, want := range places {
		got, err := f.store.Leads().RemovedPlace(f.ctx, lead.View{}, id.Lead("cmp_"+name))
		f.ok(err)
		f.same(got, want)
	}
}

func leadReturns(f *fixture) {
	one := fullLead("one")
	f.imports(leadCalled("first"))
	before := f.imports(one)[0]
	key := f.marks(f.store.Leads())[one.ID].Key
	f.removes(one.ID)
	f.imports(leadCalled("between")) // does not get the key
	f.removes("cmp_first", "cmp_between")
	kept := f.imports(one)
	f.leadsAre(f.store.Leads(), map[id.Lead]lead.Revision{one.ID: 6}, kept...)
	f.same(f.marks(f.store.Leads())[one.ID].Key, key)
	f.same(kept[0].MovedFrom, before.UpdatedAt) // so that a stream that broke off after it finds where it was
	_, err := f.store.Leads().RemovedPlace(f.ctx, lead.View{}, one.ID)
	f.code(err, fault.NotFound)
	removed, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Size: 10})
	f.ok(err)
	f.same(removed.Total, int64(2))
	_, again := f.removes(one.ID)
	f.same(again, []lead.Summary{summaryOf(kept[0])})
}

func leadsRemovedPages(f *fixture) {
	var want []lead.RemovedLead
	for _, names := range [][]string{{"b", "a", "A", "a_"}, {"z"}, {"aa", "-", "a-"}} {
		var leads []lead.Lead
		var ids []id.Lead
		for _, name := range names {
			leads, ids = append(leads, leadCalled(name)), append(ids, leadCalled(name).ID)
		}
		f.imports(leads...)
		at, _ := f.removes(ids...)
		slices.Sort(ids)
		for _, which := range ids {
			want = append(want, lead.RemovedLead{ID: which, RemovedAt: at})
		}
	}
	f.imports(leadCalled("stays"))
	for start := range want {
		since := want[start].RemovedAt
		for _, since := range []time.Time{since, since.Add(-time.Nanosecond), since.Add(time.Nanosecond), {}} {
			matching := slices.DeleteFunc(slices.Clone(want), func(r lead.RemovedLead) bool { return r.RemovedAt.Before(since) })
			f.removedAre(lead.RemovedQuery{Since: since}, matching)
		}
	}
	f.removedAre(lead.RemovedQuery{Since: f.clock.Now().Add(time.Hour)}, nil)
}

// removedAre compares pages of every size, by place and by number, with all that the query matches.
func (f *fixture) removedAre(query lead.RemovedQuery, want []lead.RemovedLead) {
	f.Helper()
	for size := 1; size <= len(want)+1; size++ {
		var got []lead.RemovedLead
		for after := (lead.Place{}); ; {
			found, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Since: query.Since, After: after, Size: size})
			f.ok(err)
			skipped, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{Since: query.Since, Skip: int64(len(got)), Size: size})
			f.ok(err)
			f.same(skipped, found)
			f.same(found.Total, int64(len(want)))
			got = append(got, found.Leads...)
			f.same(found.More, len(got) < len(want))
			if !found.More {
				break
			}
			after = lead.Place{UpdatedAt: got[len(got)-1].RemovedAt, ID: got[len(got)-1].ID}
		}
		f.same(got, want)
	}
}
