package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

var leadFeedRules = []rule{
	{"each lead and each name stands in the feed once, at its last change", feedOnce},
	{"who begins with nothing is not told of what is gone", feedFresh},
	{"a lead that a filter does not match any more has left", feedLeft},
	{"who may not see all is told of what is seen, and of others no more than that they left", feedNarrowed},
	{"leads of campaigns that moved to another industry come again for who is shown campaigns of some industries", feedMoved},
	{"leads of a campaign that moved are looked for among some leads in a page", feedMovedFar},
	{"many that do not match are passed over, so many at most in a page", feedPasses},
	{"the feed goes on since an instant, and not much before it", feedSince},
	{"the feed ends where a restoration or pruned removals begin", feedLost},
	{"the feed ends where the store is not the one that the reader has seen", feedOfAnother},
}

// feed reads the feed after a position to its end, in pages of three.
func (f *fixture) feed(filter lead.Filter, after lead.FeedPosition) (changes []lead.FeedChange, next lead.FeedPosition) {
	f.Helper()
	for {
		page, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{Filter: filter, After: after, Size: 3})
		f.ok(err)
		changes, after = append(changes, page.Changes...), page.Next
		if !page.More {
			return changes, after
		}
	}
}

// told is what changes are, in short: the kind and what changed.
func told(changes []lead.FeedChange) []string {
	var all []string
	for _, one := range changes {
		what := string(one.Lead)
		if one.Industry != nil {
			what = string(one.Industry.ID) + " " + one.Industry.Name
		} else if one.Vertical != nil {
			what = string(one.Vertical.ID) + " of " + string(one.Vertical.Industry) + " " + one.Vertical.Slug
		}
		all = append(all, string(one.Kind)+" "+what)
	}
	return all
}

func feedOnce(f *fixture) {
	f.imports(leadCalled("first"))
	changes, at := f.feed(lead.Filter{}, lead.FeedPosition{})
	f.same(told(changes), []string{"upserted cmp_first"})
	taxonomy := f.newTaxonomy()
	f.keepTaxonomy(taxonomy)
	kept := f.imports(fullLead("a"), leadCalled("b"), leadCalled("c"))
	removedAt, _ := f.removes("cmp_b")
	changed := f.imports(leadCalled("a", func(l *lead.Lead) { l.Website = "a.example" }))
	taxonomy.Industries[1].Name = "Ä"
	taxonomy.Verticals[0].Active = true // not told
	f.keepTaxonomy(taxonomy)

	changes, next := f.feed(lead.Filter{}, at)
	f.same(told(changes), []string{
		`taxonomy ind_A It's "Ä"`, "taxonomy vrt_- of ind_A one", "taxonomy vrt_0 of ind_a two",
		"upserted cmp_c", "removed cmp_b", "upserted cmp_a", "taxonomy ind_a Ä",
	})
	f.same(changes[3].Exported, exportedOf(kept[2]))
	f.same(changes[4].At, removedAt)
	f.same(changes[5].Exported, exportedOf(changed[0]))
	again, same := f.feed(lead.Filter{}, next)
	f.same(len(again), 0)
	f.same(same, next)

	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		page, err := r.Leads().Feed(ctx, lead.FeedQuery{After: at, Size: 100})
		f.same(page.Changes, changes)
		f.same(page.Next, next)
		return err
	}))
}

func feedFresh(f *fixture) {
	f.imports(leadCalled("a"), leadCalled("b"), leadCalled("c"))
	f.removes("cmp_b")
	page, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{Size: 1})
	f.ok(err)
	f.same(told(page.Changes), []string{"upserted cmp_a"})
	f.removes("cmp_a")
	f.imports(leadCalled("b"))
	changes, _ := f.feed(lead.Filter{}, page.Next)
	f.same(told(changes), []string{"upserted cmp_c", "removed cmp_a", "upserted cmp_b"})
	changes, _ = f.feed(lead.Filter{}, lead.FeedPosition{})
	f.same(told(changes), []string{"upserted cmp_c", "upserted cmp_b"})
}

func feedLeft(f *fixture) {
	deep := func(l *lead.Lead) { l.Enrichment = lead.Deep }
	filter := lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}}
	f.imports(leadCalled("a", deep), leadCalled("b"), leadCalled("c", deep))
	changes, at := f.feed(filter, lead.FeedPosition{})
	f.same(told(changes), []string{"upserted cmp_a", "upserted cmp_c"})
	f.imports(leadCalled("a"))
	f.imports(leadCalled("b", func(l *lead.Lead) { l.Website = "never" }))
	changes, _ = f.feed(filter, at)
	f.same(told(changes), []string{"left cmp_a", "left cmp_b"})
}

func feedNarrowed(f *fixture) {
	in := func(industry id.Industry) func(l *lead.Lead) { return func(l *lead.Lead) { l.Industry = industry } }
	filter := lead.Filter{View: lead.View{Industries: []id.Industry{"ind_a"}}}
	taxonomy := f.newTaxonomy()
	f.keepTaxonomy(taxonomy)
	f.imports(leadCalled("a", in("ind_a")), leadCalled("b", in("ind_A")), leadCalled("c", in("ind_a")),
		leadCalled("d", in("ind_a")))
	changes, at := f.feed(filter, lead.FeedPosition{})
	f.same(told(changes), []string{
		"taxonomy ind_a " + taxonomy.Industries[1].Name, "taxonomy vrt_0 of ind_a two",
		"upserted cmp_a", "upserted cmp_c", "upserted cmp_d",
	})
	f.imports(leadCalled("a", in("ind_A")), leadCalled("d", in("ind_A")))
	f.removes("cmp_b")
	f.removes("cmp_c")
	f.removes("cmp_d")
	changes, _ = f.feed(filter, at)
	f.same(told(changes), []string{"left cmp_a", "left cmp_b", "removed cmp_c", "left cmp_d"})
}

func feedMoved(f *fixture) {
	of := func(industry id.Industry, names ...string) {
		f.Helper()
		var all []lead.Campaign
		for _, name := range names {
			one := f.newCampaign(name)
			one.Industry = industry
			all = append(all, one)
		}
		f.keepCampaigns(all...)
	}
	in := func(some ...id.Campaign) func(l *lead.Lead) {
		return func(l *lead.Lead) { l.Industry, l.Campaigns = "ind_a", some }
	}
	f.keepTaxonomy(f.newTaxonomy())
	of("ind_a", "1", "2", "3")
	f.imports(leadCalled("a", in("cam_1")), leadCalled("b", in("cam_2", "cam_1")), leadCalled("c", in("cam_3")),
		leadCalled("d", in("cam_1")), leadCalled("e", in("cam_1", "cam_3")), leadCalled("f", in("cam_1", "cam_2")),
		leadCalled("gone", in("cam_1")))
	f.removes("cmp_gone")
	all := lead.Filter{}
	narrowed := lead.Filter{View: lead.View{Industries: []id.Industry{"ind_a"}}}
	asked := narrowed
	asked.Campaigns = []id.Campaign{"cam_2"} // app/export leaves out those that are not shown
	_, ofAll := f.feed(all, lead.FeedPosition{})
	_, at := f.feed(narrowed, lead.FeedPosition{})
	_, ofAsked := f.feed(asked, lead.FeedPosition{})

	of("ind_a", "1", "2") // they stay
	changes, _ := f.feed(narrowed, at)
	f.same(told(changes), []string(nil))
	of("ind_A", "1")
	f.imports(leadCalled("d", in("cam_1"), func(l *lead.Lead) { l.Website = "d.example" }))
	of("", "3")
	f.imports(leadCalled("e", in()))
	changes, next := f.feed(narrowed, at)
	f.same(told(changes), []string{
		"upserted cmp_a", "upserted cmp_b", "upserted cmp_f", "upserted cmp_d", "upserted cmp_c", "upserted cmp_e",
	})
	for i, one := range changes {
		f.same(one.Exported.Place.ID, one.Lead)
		f.same(i == 0 || changes[i-1].Place.Compare(one.Place) < 0, true)
	}
	again, same := f.feed(narrowed, next)
	f.same(len(again), 0)
	f.same(same, next)
	changes, _ = f.feed(all, ofAll)
	f.same(told(changes), []string{"upserted cmp_d", "upserted cmp_e"})
	changes, _ = f.feed(asked, ofAsked)
	f.same(told(changes), []string{"left cmp_a", "upserted cmp_b", "upserted cmp_f", "left cmp_d", "left cmp_c", "left cmp_e"})
	fresh, _ := f.feed(narrowed, lead.FeedPosition{})
	f.same(len(fresh), 8) // two names, and each lead once
	of("ind_a", "3")
	changes, next = f.feed(narrowed, next)
	f.same(told(changes), []string{"upserted cmp_c"})

	f.imports(leadCalled("twice", in("cam_2", "cam_3")))
	_, next = f.feed(narrowed, next)
	of("ind_A", "2")
	of("ind_A", "3")
	changes, _ = f.feed(narrowed, next)
	f.same(told(changes), []string{
		"upserted cmp_b", "upserted cmp_f", "upserted cmp_twice", "upserted cmp_c", "upserted cmp_twice",
	})
	for _, one := range changes {
		f.same(one.Exported.Place.ID, one.Lead)
	}
}

func feedMovedFar(f *fixture) {
	const units, leads = 3, 7000
	one := f.newCampaign("1")
	one.Industry = "ind_a"
	f.keepTaxonomy(f.newTaxonomy())
	f.keepCampaigns(one)
	for unit := range units {
		batch := manyLeads(leads)
		for i := range batch {
			batch[i].ID += id.Lead("-" + string(rune('a'+unit)))
		}
		if unit == 0 {
			batch[0].Campaigns = []id.Campaign{one.ID}
		}
		f.imports(batch...)
	}
	f.imports(leadCalled("z", func(l *lead.Lead) { l.Campaigns = []id.Campaign{one.ID} }))
	filter := lead.Filter{View: lead.View{Industries: []id.Industry{"ind_a", "ind_A"}}}
	_, at := f.feed(filter, lead.FeedPosition{})
	one.Industry = "ind_A"
	f.keepCampaigns(one)
	f.imports(leadCalled("y"))
	page, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{Filter: filter, After: at, Size: 5})
	f.ok(err)
	f.same(len(page.Changes), 1)
	f.same(page.More, true)
	changes, next := f.feed(filter, at)
	f.same(len(changes), 3)
	f.same(told(changes)[1:], []string{"left cmp_z", "left cmp_y"})
	changes, _ = f.feed(filter, next)
	f.same(len(changes), 0)
}

func feedPasses(f *fixture) {
	const units, leads = 6, 2000
	for unit := range units {
		batch := manyLeads(leads)
		for i := range batch {
			batch[i].ID += id.Lead("-" + string(rune('a'+unit)))
		}
		if unit == units-1 {
			batch[0].ID, batch[0].Enrichment = "cmp_z", lead.Deep // the last
		}
		f.imports(batch...)
	}
	page, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{Filter: lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}}, Size: 5})
	f.ok(err)
	f.same(len(page.Changes), 0)
	f.same(page.More, true)
	changes, _ := f.feed(lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}}, page.Next)
	f.same(len(changes), 1)
}

func feedSince(f *fixture) {
	var instants []time.Time
	for _, name := range []string{"a", "b", "c", "d"} {
		f.clock.Advance(store.FeedStep + time.Minute)
		instants = append(instants, f.clock.Now())
		f.imports(leadCalled(name), leadCalled(name+"2", func(l *lead.Lead) { // of long ago, by its own timestamps
			l.CreatedAt, l.UpdatedAt = instants[0].Add(-time.Hour), instants[0].Add(-time.Hour)
		}))
	}
	f.clock.Advance(time.Second)
	f.imports(leadCalled("e"))
	all := []string{"cmp_a", "cmp_a2", "cmp_b", "cmp_b2", "cmp_c", "cmp_c2", "cmp_d", "cmp_d2", "cmp_e"}
	for since, want := range map[time.Time][]string{
		{}: all, instants[0].Add(-time.Hour): all, instants[0]: all, instants[2]: all[4:], instants[2].Add(-1): all[4:],
		instants[3].Add(time.Millisecond): all[8:], f.clock.Now(): all[8:], f.clock.Now().Add(time.Millisecond): nil,
	} {
		from, err := f.store.Leads().FeedSince(f.ctx, since)
		f.ok(err)
		changes, _ := f.feed(lead.Filter{}, from)
		var got []string
		for _, one := range changes {
			got = append(got, string(one.Lead))
		}
		slices.Sort(got)
		f.same(got, want)
	}
}

func feedLost(f *fixture) {
	f.imports(leadCalled("a"), leadCalled("b"), leadCalled("c"))
	_, before := f.feed(lead.Filter{}, lead.FeedPosition{})
	begun, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{Size: 1})
	f.ok(err)
	isLost := func(from lead.FeedPosition, want bool) {
		f.Helper()
		_, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{After: from, Size: 1})
		f.same(errors.Is(err, store.ErrFeedLost), want)
	}
	f.removes("cmp_b")
	_, after := f.feed(lead.Filter{}, before)
	f.clock.Advance(time.Hour)
	f.imports(leadCalled("d"))
	old, err := f.store.Retention().RemovedLeads(f.ctx, f.clock.Now(), store.OldLead{}, 10)
	f.ok(err)
	f.same(len(old), 1)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Retention().RemoveLeads(ctx, old)
	})
	isLost(before, true)
	isLost(begun.Next, true)
	isLost(after, false)
	isLost(lead.FeedPosition{}, false)
	_, err = f.store.Leads().FeedSince(f.ctx, f.clock.Now().Add(-2*time.Hour))
	f.same(errors.Is(err, store.ErrFeedLost), true)

	f.clock.Advance(time.Minute)
	_, now := f.feed(lead.Filter{}, after)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Leads().Restored(ctx)
	})
	isLost(now, false)
	now.SeenAt = now.SeenAt.Add(time.Millisecond)
	isLost(now, true)
}

func feedOfAnother(f *fixture) {
	var seen []lead.FeedPosition
	for _, name := range []string{"a", "b", "c"} {
		f.clock.Advance(time.Minute)
		f.imports(leadCalled(name))
		_, at := f.feed(lead.Filter{}, lead.FeedPosition{})
		seen = append(seen, at)
	}
	follows := func(from lead.FeedPosition, want bool) {
		f.Helper()
		_, err := f.store.Leads().Feed(f.ctx, lead.FeedQuery{After: from, Size: 1})
		f.same(errors.Is(err, store.ErrFeedLost), !want)
		f.same(errors.Is(f.store.Leads().CanFollow(f.ctx, from), store.ErrFeedLost), !want)
	}
	for _, at := range seen {
		follows(at, true)
		other := at
		other.SeenAt = at.SeenAt.Add(time.Second)
		follows(other, false)
		other.Seen = 0 // of a former version
		follows(other, true)
		other = at
		other.Seen = 4
		follows(other, false)
	}
}
