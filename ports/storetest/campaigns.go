package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

var campaignRules = []rule{
	{"a campaign reads back as it was kept", campaignReadsBack},
	{"what is not there is not found", campaignNotFound},
	{"keep replaces all but the lead count, and leaves others alone", campaignKeep},
	{"lead counts change by what is counted", campaignCount},
	{"to count leads of what is not there is a defect", campaignCountNeedsCampaign},
	{"many campaigns are kept and counted at once", campaignsMany},
	{"random searches find what the definition of a filter matches", campaignSearches},
}

// keepCampaigns keeps campaigns, and returns the state after it.
func (f *fixture) keepCampaigns(campaigns ...lead.Campaign) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		return tx.Campaigns().Keep(ctx, campaigns)
	})
}

func counting(by map[id.Campaign]int64) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		return tx.Campaigns().Count(ctx, by)
	}
}

func (f *fixture) newCampaign(name string) lead.Campaign {
	at := f.clock.Now()
	return lead.Campaign{
		ID: id.Campaign("cam_" + name), Name: "Campaign " + name, Status: lead.StatusDraft, CreatedAt: at, UpdatedAt: at,
	}
}

// campaignsAre compares every way to read campaigns with all that are kept.
func (f *fixture) campaignsAre(want ...lead.Campaign) {
	f.Helper()
	slices.SortFunc(want, func(a, b lead.Campaign) int { return a.Place().Compare(b.Place()) })
	var ids []id.Campaign
	for _, c := range want {
		got, err := f.store.Campaigns().Get(f.ctx, c.ID)
		f.ok(err)
		f.same(got, c)
		ids = append(ids, c.ID)
	}
	listed, err := f.store.Campaigns().Listed(f.ctx, append(slices.Clone(ids), "cam_never", "cam_'"))
	f.ok(err)
	slices.SortFunc(listed, func(a, b lead.Campaign) int { return a.Place().Compare(b.Place()) })
	f.same(listed, want)
	found, err := f.store.Campaigns().IDs(f.ctx)
	f.ok(err)
	slices.Sort(ids)
	f.same(slices.Sorted(slices.Values(found)), ids)
	industries := map[id.Campaign]id.Industry{}
	for _, c := range want {
		if c.Industry != "" {
			industries[c.ID] = c.Industry
		}
	}
	of, err := f.store.Campaigns().Industries(f.ctx)
	f.ok(err)
	f.same(of, industries)
	state, err := f.store.Leads().State(f.ctx)
	f.ok(err)
	page, err := f.store.Campaigns().Search(f.ctx, lead.CampaignQuery{Size: len(want) + 1})
	f.ok(err)
	f.same(page, lead.CampaignPage{State: state, Campaigns: want, Total: int64(len(want))})
}

func campaignReadsBack(f *fixture) {
	f.campaignsAre()
	bare, full := f.newCampaign("bare"), f.newCampaign("full")
	full.Name, full.Status = `It's "Ä" 🦆 %_\`, lead.StatusCompleted
	full.Industry, full.Vertical, full.Geography = "ind_1", "vrt_1", "geo_1"
	full.CreatedAt, full.UpdatedAt = full.CreatedAt.Add(-time.Hour), full.UpdatedAt.Add(time.Hour)
	f.keepCampaigns(full, bare)
	f.campaignsAre(bare, full)
	f.keepCampaigns()
	f.campaignsAre(bare, full)
}

func campaignNotFound(f *fixture) {
	f.keepCampaigns(f.newCampaign("some"))
	for _, text := range []string{"", "cam_", "cam_Some", "cam_som_", "cam_some ", "' OR '1'='1"} {
		_, err := f.store.Campaigns().Get(f.ctx, id.Campaign(text))
		f.code(err, fault.NotFound)
	}
}

func campaignKeep(f *fixture) {
	one, two := f.newCampaign("one"), f.newCampaign("two")
	one.LeadCount = 7 // is ignored
	f.keepCampaigns(one, two)
	one.LeadCount = 0
	f.campaignsAre(one, two)
	f.update(counting(map[id.Campaign]int64{one.ID: 3}))
	one.Name, one.Status, one.Geography, one.UpdatedAt = "New", lead.StatusPaused, "geo_2", one.UpdatedAt.Add(time.Minute)
	three := f.newCampaign("three")
	f.keepCampaigns(one, three)
	one.LeadCount = 3
	f.campaignsAre(one, two, three)
}

func campaignCount(f *fixture) {
	one, two, three := f.newCampaign("one"), f.newCampaign("two"), f.newCampaign("three")
	f.keepCampaigns(one, two, three)
	f.update(counting(nil))
	f.update(counting(map[id.Campaign]int64{one.ID: 1 << 40, two.ID: 5, three.ID: 0}))
	f.update(counting(map[id.Campaign]int64{one.ID: 1, two.ID: -2}))
	one.LeadCount, two.LeadCount = 1<<40+1, 3
	f.campaignsAre(one, two, three)
	f.update(counting(map[id.Campaign]int64{two.ID: -3}))
	two.LeadCount = 0
	f.campaignsAre(one, two, three)
}

func campaignCountNeedsCampaign(f *fixture) {
	one := f.newCampaign("one")
	f.keepCampaigns(one)
	f.refused(fault.Internal, counting(map[id.Campaign]int64{one.ID: 1, "cam_none": 1}))
	f.campaignsAre(one)
}

func campaignsMany(f *fixture) {
	var all []lead.Campaign
	by := map[id.Campaign]int64{}
	for i := range lead.MostCampaigns {
		all = append(all, f.newCampaign(fmt.Sprintf("%x-%d", i%16, i)))
		by[all[i].ID] = int64(i)
	}
	f.keepCampaigns(all...)
	f.update(counting(by))
	for i := range all {
		all[i].LeadCount = int64(i)
	}
	page, err := f.store.Campaigns().Search(f.ctx, lead.CampaignQuery{Filter: lead.CampaignFilter{MinLeads: 500}, Size: 10, Skip: 495})
	f.ok(err)
	f.same(page.Total, int64(500))
	f.same(len(page.Campaigns), 5)
	f.campaignsAre(all...)
}

// campaignSearches keeps campaigns of every kind, and draws searches.
func campaignSearches(f *fixture) {
	var all []lead.Campaign
	by := map[id.Campaign]int64{}
	for i, name := range []string{"a", "A", "a_", "aa", "b", "B", "_", "-", "0", "z", "zz", "c"} {
		c := f.newCampaign(name)
		c.Status = lead.Statuses()[i%len(lead.Statuses())]
		c.Industry = []id.Industry{"", "ind_a", "ind_a_"}[i%3]
		c.Vertical = []id.Vertical{"", "vrt_a"}[i%2]
		c.Geography = []id.Geography{"", "geo_a", "geo_A"}[i/2%3]
		c.UpdatedAt = c.UpdatedAt.Add(time.Duration(i*5%3) * time.Millisecond)
		by[c.ID] = int64(i * 3 % 5)
		all = append(all, c)
	}
	f.keepCampaigns(all...)
	f.update(counting(by))
	for i := range all {
		all[i].LeadCount = by[all[i].ID]
	}
	f.campaignsAre(all...)
	slices.SortFunc(all, func(a, b lead.Campaign) int { return a.Place().Compare(b.Place()) })
	state, err := f.store.Leads().State(f.ctx)
	f.ok(err)
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		query := lead.CampaignQuery{
			Filter: drawCampaignFilter(t, all),
			After: rapid.SampledFrom(append(
				[]lead.CampaignPlace{{}, {}, {}}, all[3].Place(), all[9].Place(), all[11].Place(),
			)).Draw(t, "after"),
			Skip: int64(rapid.SampledFrom([]int{0, 0, 1, 5, 100}).Draw(t, "skip")),
			Size: rapid.IntRange(1, 13).Draw(t, "size"),
		}
		matching := slices.DeleteFunc(slices.Clone(all), func(c lead.Campaign) bool { return !query.Filter.Match(c) })
		remaining := slices.DeleteFunc(slices.Clone(matching), func(c lead.Campaign) bool { return c.Place().Compare(query.After) <= 0 })
		remaining = remaining[min(query.Skip, int64(len(remaining))):]
		got, err := f.store.Campaigns().Search(f.ctx, query)
		own.ok(err)
		own.same(got, lead.CampaignPage{
			State: state, Campaigns: remaining[:min(query.Size, len(remaining))],
			Total: int64(len(matching)), More: len(remaining) > query.Size,
		})
	})
}

func drawCampaignFilter(t *rapid.T, all []lead.Campaign) lead.CampaignFilter {
	filter := lead.CampaignFilter{
		Status:    rapid.SampledFrom(append(lead.Statuses(), "", "", "", "")).Draw(t, "status"),
		Industry:  rapid.SampledFrom([]id.Industry{"", "", "ind_a", "ind_a_", "ind_%"}).Draw(t, "industry"),
		Vertical:  rapid.SampledFrom([]id.Vertical{"", "", "vrt_a", "vrt_"}).Draw(t, "vertical"),
		Geography: rapid.SampledFrom([]id.Geography{"", "", "geo_a", "geo_A"}).Draw(t, "geography"),
		MinLeads:  rapid.SampledFrom([]int64{0, 0, 1, 2, 4, 1 << 62}).Draw(t, "least leads"),
		View: lead.View{
			Campaigns:  rapid.SampledFrom([][]id.Campaign{nil, nil, {"cam_a"}, {"cam_b", "cam_aa"}}).Draw(t, "shown campaigns"),
			Industries: rapid.SampledFrom([][]id.Industry{nil, nil, {"ind_a"}, {"ind_a", "ind_b"}}).Draw(t, "shown industries"),
		},
	}
	if rapid.Bool().Draw(t, "by instant") {
		near := rapid.SampledFrom([]time.Duration{-1, 0, 1}).Draw(t, "near")
		filter.Since = rapid.SampledFrom(all).Draw(t, "campaign").UpdatedAt.Add(near)
	}
	if rapid.Bool().Draw(t, "by leads") {
		has := rapid.Bool().Draw(t, "has leads")
		filter.HasLeads = &has
	}
	return filter
}
