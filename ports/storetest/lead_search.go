package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

var leadSearchRules = []rule{
	{"pages come in the order of the export, byte by byte", leadPages},
	{"ids are compared as they are, whatever their letters mean elsewhere", leadLookalikes},
	{"the total is that of the filter, unless it is not wanted", leadTotals},
	{"since is exact", leadSince},
	{"a view shows its own, of leads that are removed too", leadsOfAView},
	{"random searches find what the definition of a filter matches", leadSearches},
}

// finds compares a search with the leads that it is to find, in any order.
func (f *fixture) finds(query lead.Query, among []lead.Stored) lead.Page {
	f.Helper()
	matching := slices.DeleteFunc(slices.Clone(among), func(kept lead.Stored) bool { return !query.Filter.Match(kept.Lead) })
	slices.SortFunc(matching, func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) })
	remaining := slices.DeleteFunc(slices.Clone(matching), func(kept lead.Stored) bool { return kept.Place().Compare(query.After) <= 0 })
	remaining = remaining[min(query.Skip, int64(len(remaining))):]
	state, err := f.store.Leads().State(f.ctx)
	f.ok(err)
	want := lead.Page{State: state, Leads: allExported(remaining[:min(query.Size, len(remaining))])}
	want.More = query.Size > 0 && len(remaining) > query.Size
	if !query.Uncounted {
		want.Total = int64(len(matching))
	}
	got, err := f.store.Leads().Search(f.ctx, query)
	f.ok(err)
	f.same(got, want)
	return got
}

func leadPages(f *fixture) {
	var kept []lead.Stored
	for _, names := range [][]string{{"b", "a", "B", "A", "_", "-", "9", "aa", "a-", "a_", "aA"}, {"z"}, {"c", "Z", "0"}} {
		var leads []lead.Lead
		for _, name := range names {
			leads = append(leads, leadCalled(name))
		}
		kept = append(kept, f.imports(leads...)...)
	}
	for size := 1; size <= len(kept)+1; size++ {
		var after lead.Place
		for more, skip := true, int64(0); more; skip += int64(size) {
			f.finds(lead.Query{Skip: skip, Size: size}, kept)
			found := f.finds(lead.Query{After: after, Size: size}, kept)
			f.finds(lead.Query{After: after, Skip: 2, Size: size, Uncounted: true}, kept)
			after, more = found.Leads[len(found.Leads)-1].Place, found.More
		}
		f.finds(lead.Query{After: after, Size: size}, kept)
	}
	f.finds(lead.Query{Skip: 1 << 62, Size: 1}, kept)
	f.finds(lead.Query{Skip: 1}, kept)
	f.finds(lead.Query{After: lead.Place{UpdatedAt: kept[0].UpdatedAt, ID: "cmp_a"}, Size: 3}, kept)
	f.finds(lead.Query{After: lead.Place{UpdatedAt: kept[0].UpdatedAt, ID: "cmp_none"}, Size: 3}, kept)
	f.finds(lead.Query{After: lead.Place{UpdatedAt: kept[0].UpdatedAt.Add(time.Hour)}, Size: 3}, kept)
}

func leadLookalikes(f *fixture) {
	texts := []string{"a", "A", "a_b", "axb", "a-b", "aa", "a_", "_", "__", "website", "deep", "0", "00"}
	var leads []lead.Lead
	for i, text := range texts {
		leads = append(leads, leadCalled(text, func(l *lead.Lead) {
			l.Industry, l.Vertical = id.Industry("ind_"+text), id.Vertical("vrt_"+text)
			l.Campaigns = []id.Campaign{id.Campaign("cam_" + text)}
			if next := id.Campaign("cam_" + texts[(i+1)%len(texts)]); next > l.Campaigns[0] {
				l.Campaigns = append(l.Campaigns, next)
			}
			l.Enrichment = lead.Enrichments()[i%len(lead.Enrichments())]
		}))
	}
	kept := f.imports(leads...)
	for _, text := range append(texts, "", "b", "a_bc", "%", "a%", "_b", "axb cam_a-b") {
		for _, filter := range []lead.Filter{
			inIndustry(id.Industry("ind_" + text)), inVertical(id.Vertical("vrt_" + text)), inCampaign(id.Campaign("cam_" + text)),
			inIndustry(id.Industry("IND_" + text)), inCampaign(id.Campaign("cam" + text)), inCampaign(id.Campaign("am_" + text)),
		} {
			f.finds(lead.Query{Filter: filter, Size: 100}, kept)
		}
	}
}

func leadTotals(f *fixture) {
	var leads []lead.Lead
	for i := range 30 {
		leads = append(leads, leadCalled(fmt.Sprint(i), func(l *lead.Lead) { l.Rating = lead.Rating(i*20) - 1 }))
	}
	kept := f.imports(leads...)
	for _, least := range []lead.Rating{0, 1, 19, 20, 300, lead.MostRating} {
		for _, uncounted := range []bool{false, true} {
			query := lead.Query{Filter: lead.Filter{MinRating: &least}, Size: 4, Uncounted: uncounted}
			f.finds(query, kept)
			query.After = kept[7].Place()
			f.finds(query, kept)
			query.Skip = 100
			f.finds(query, kept)
		}
	}
}

func leadSince(f *fixture) {
	var kept []lead.Stored
	for _, name := range []string{"a", "b", "c"} {
		f.clock.Advance(time.Millisecond)
		kept = append(kept, f.imports(leadCalled(name))...)
	}
	for _, one := range kept {
		for _, by := range []time.Duration{0, 1, -1, time.Millisecond - 1, time.Millisecond, -time.Millisecond, time.Hour, -time.Hour} {
			f.finds(lead.Query{Filter: lead.Filter{Since: one.UpdatedAt.Add(by)}, Size: 10}, kept)
			inEurope := one.UpdatedAt.Add(by).In(time.FixedZone("", 2*60*60))
			f.finds(lead.Query{Filter: lead.Filter{Since: inEurope}, Size: 10}, kept)
		}
	}
	f.finds(lead.Query{Filter: lead.Filter{Since: time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)}, Size: 10}, kept)
	f.finds(lead.Query{Filter: lead.Filter{Since: time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)}, Size: 10}, kept)
}

// leadSearches draws changes and searches, and holds a store to a few maps. All runs share one store: a run begins by
// removing what the last one left.
func leadSearches(f *fixture) {
	left := map[id.Lead]lead.Stored{}
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		s := searches{fixture: &own, draw: t, kept: left}
		s.change(nil, slices.Collect(maps.Keys(left)))
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			s.clock.Advance(time.Duration(rapid.IntRange(0, 2).Draw(t, "pause")) * time.Millisecond)
			s.change(rapid.SliceOfN(rapid.Custom(drawLead), 0, 12).Draw(t, "leads"),
				rapid.SliceOfN(rapid.Custom(drawLeadID), 0, 3).Draw(t, "removed"))
			for range 4 {
				s.search()
			}
		}
	})
}

type searches struct {
	*fixture
	draw *rapid.T
	kept map[id.Lead]lead.Stored
}

// change imports leads and removes others, in one unit.
func (s *searches) change(leads []lead.Lead, removed []id.Lead) {
	var kept []lead.Stored
	s.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		if kept, err = importingAt(ctx, tx, at, leads...); err != nil {
			return err
		}
		_, err = tx.Leads().Remove(ctx, removed, at)
		return err
	})
	for _, one := range kept {
		s.kept[one.ID] = one
	}
	for _, which := range removed {
		delete(s.kept, which)
	}
}

func (s *searches) search() {
	all := slices.Collect(maps.Values(s.kept))
	query := lead.Query{
		Filter:    rapid.Custom(s.drawFilter).Draw(s.draw, "filter"),
		Skip:      int64(rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(s.draw, "skip")),
		Size:      rapid.IntRange(1, 8).Draw(s.draw, "size"),
		Uncounted: rapid.Bool().Draw(s.draw, "uncounted"),
	}
	if len(all) > 0 && rapid.Bool().Draw(s.draw, "after") {
		query.After = slices.MaxFunc(all, func(a, b lead.Stored) int { return a.Place().Compare(b.Place()) }).Place()
		query.After.UpdatedAt = query.After.UpdatedAt.Add(-time.Duration(rapid.IntRange(0, 3).Draw(s.draw, "before")) * time.Millisecond)
		query.After.ID = drawLeadID(s.draw)
	}
	s.finds(query, all)
}

func drawLeadID(t *rapid.T) id.Lead {
	return id.Lead("cmp_" + rapid.StringMatching("[a-cA_]{1,2}").Draw(t, "id"))
}

func drawLead(t *rapid.T) lead.Lead {
	l := lead.Lead{
		ID:         drawLeadID(t),
		Name:       rapid.SampledFrom([]string{"Ä", "b", "c"}).Draw(t, "name"),
		Website:    rapid.SampledFrom([]string{"", "https://example.com"}).Draw(t, "website"),
		Rating:     rapid.SampledFrom([]lead.Rating{lead.Unrated, 0, 1, 250, lead.MostRating}).Draw(t, "rating"),
		Enrichment: rapid.SampledFrom(lead.Enrichments()).Draw(t, "enrichment"),
		Industry:   rapid.SampledFrom([]id.Industry{"", "ind_a", "ind_b"}).Draw(t, "industry"),
		Campaigns:  rapid.SliceOfNDistinct(rapid.Custom(drawCampaignID), 0, 3, rapid.ID).Draw(t, "campaigns"),
	}
	if l.Industry != "" {
		l.Vertical = rapid.SampledFrom([]id.Vertical{"", "vrt_a", "vrt_b"}).Draw(t, "vertical")
	}
	slices.Sort(l.Campaigns)
	return l
}

func drawCampaignID(t *rapid.T) id.Campaign {
	return rapid.SampledFrom([]id.Campaign{"cam_a", "cam_aa", "cam_a_", "cam_A", "cam_b"}).Draw(t, "campaign")
}

// drawFilter draws filters that mostly ask for little: of those that ask for much nothing is left.
func (s *searches) drawFilter(t *rapid.T) lead.Filter {
	wanted := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	var filter lead.Filter
	if wanted("by campaign") {
		filter.Campaigns = rapid.SliceOfN(rapid.Custom(drawCampaignID), 1, 3).Draw(t, "campaigns")
	}
	if wanted("by industry") {
		filter.Industries = []id.Industry{rapid.SampledFrom([]id.Industry{"ind_a", "ind_b", "ind_"}).Draw(t, "industry")}
	}
	if wanted("by vertical") {
		filter.Verticals = rapid.SliceOfN(rapid.SampledFrom([]id.Vertical{"vrt_a", "vrt_b", "vrt_ab"}), 1, 2).Draw(t, "verticals")
	}
	if wanted("by website") {
		has := rapid.Bool().Draw(t, "has website")
		filter.HasWebsite = &has
	}
	if wanted("by rating") {
		least := rapid.SampledFrom([]lead.Rating{0, 1, 2, 250, 251, lead.MostRating}).Draw(t, "least rating")
		filter.MinRating = &least
	}
	if wanted("by enrichment") {
		filter.Enrichments = rapid.SliceOfN(rapid.SampledFrom(lead.Enrichments()), 1, 3).Draw(t, "enrichments")
	}
	if wanted("since") {
		filter.Since = s.clock.Now().Add(time.Duration(rapid.IntRange(-3000, 1000).Draw(t, "microseconds")) * time.Microsecond)
	}
	return filter
}

func inCampaign(some ...id.Campaign) lead.Filter { return lead.Filter{Campaigns: some} }

func inIndustry(some ...id.Industry) lead.Filter { return lead.Filter{Industries: some} }

func inVertical(some ...id.Vertical) lead.Filter { return lead.Filter{Verticals: some} }

func enrichedAs(some ...lead.Enrichment) lead.Filter { return lead.Filter{Enrichments: some} }

func leadsOfAView(f *fixture) {
	kept := f.imports(
		leadCalled("food", func(l *lead.Lead) { l.Industry, l.Campaigns = "ind_food", []id.Campaign{"cam_1"} }),
		leadCalled("other", func(l *lead.Lead) { l.Campaigns = []id.Campaign{"cam_1", "cam_2"} }),
		leadCalled("none"),
	)
	views := map[string]lead.View{
		"all": {}, "cam_1": {Campaigns: []id.Campaign{"cam_1"}}, "cam_2": {Campaigns: []id.Campaign{"cam_2", "cam_3"}},
		"ind_food": {Industries: []id.Industry{"ind_food"}},
		"both":     {Industries: []id.Industry{"ind_food"}, Campaigns: []id.Campaign{"cam_2"}},
	}
	for _, view := range views {
		f.finds(lead.Query{Filter: lead.Filter{View: view}, Size: 10}, kept)
		f.finds(lead.Query{Filter: lead.Filter{View: view, None: true}, Size: 10}, kept)
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Leads().Remove(ctx, []id.Lead{"cmp_food", "cmp_other", "cmp_none"}, at)
		return err
	})
	for name, want := range map[string][]id.Lead{
		"all": {"cmp_food", "cmp_none", "cmp_other"}, "cam_1": {"cmp_food", "cmp_other"}, "cam_2": {"cmp_other"},
		"ind_food": {"cmp_food"}, "both": nil,
	} {
		page, err := f.store.Leads().Removed(f.ctx, lead.RemovedQuery{View: views[name], Size: 10})
		f.ok(err)
		var got []id.Lead
		for _, one := range page.Leads {
			got = append(got, one.ID)
		}
		f.same(got, want)
		f.same(page.Total, int64(len(want)))
		for _, which := range []id.Lead{"cmp_food", "cmp_other", "cmp_none"} {
			_, err := f.store.Leads().RemovedPlace(f.ctx, views[name], which)
			if slices.Contains(want, which) {
				f.ok(err)
			} else {
				f.code(err, fault.NotFound)
			}
		}
	}
}
