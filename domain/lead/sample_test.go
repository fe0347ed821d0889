package lead_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

var sampleStart = time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)

// sample has four leads, a minute apart, and after them a removal of one of each industry.
func sample() *lead.Sample {
	taxonomy := lead.Taxonomy{
		Industries: []lead.Industry{{ID: "ind_a", Name: "A", Slug: "a", Active: true}, {ID: "ind_b", Name: "B", Slug: "b"}},
		Verticals:  []lead.Vertical{{ID: "vrt_a", Industry: "ind_a", Name: "VA", Slug: "va", Active: true}},
	}
	var all []lead.Sampled
	for n, industry := range []id.Industry{"ind_b", "ind_a", "ind_b", "ind_a", "ind_b", "ind_a"} {
		at := sampleStart.Add(time.Duration(n) * time.Minute)
		one := lead.Sampled{Lead: lead.Lead{
			ID: id.Lead(fmt.Sprint("cmp_", n)), Industry: industry, Campaigns: []id.Campaign{"cam_x"}, CreatedAt: at, UpdatedAt: at,
		}}
		if n > 3 {
			one.RemovedAt = at.Add(time.Hour)
		}
		all = append(all, one)
	}
	slices.Reverse(all)
	campaigns := []lead.Campaign{{ID: "cam_y", UpdatedAt: sampleStart.Add(1)}, {ID: "cam_x", UpdatedAt: sampleStart}}
	return lead.NewSample(taxonomy, campaigns, all)
}

// told reads the feed from a position in pages of a size: for each change, what it is about and its kind.
func told(t *testing.T, s *lead.Sample, filter lead.Filter, from lead.FeedPosition, size int) (all []string) {
	t.Helper()
	for {
		page := s.Feed(lead.FeedQuery{Filter: filter, After: from, Size: size})
		for _, change := range page.Changes {
			about := string(change.Lead)
			switch {
			case change.Industry != nil:
				about = string(change.Industry.ID)
			case change.Vertical != nil:
				about = string(change.Vertical.ID)
			}
			all = append(all, about+" "+string(change.Kind))
		}
		if from = page.Next; !page.More {
			break
		}
	}
	again := s.Feed(lead.FeedQuery{Filter: filter, After: from, Size: size})
	if len(again.Changes) > 0 || again.More || again.Next != from {
		t.Errorf("after the end of the feed comes %+v", again)
	}
	return all
}

func TestTheFeedOfASampleTellsOfAllOfIt(t *testing.T) {
	t.Parallel()
	s := sample()
	ofA := lead.Filter{Industries: []id.Industry{"ind_a"}}
	seesA := lead.Filter{View: lead.View{Industries: []id.Industry{"ind_a"}}}
	names := []string{"ind_a taxonomy", "ind_b taxonomy", "vrt_a taxonomy"}
	for what, c := range map[string]struct {
		filter lead.Filter
		from   lead.FeedPosition
		want   []string
	}{
		"from nothing": {lead.Filter{}, lead.FeedPosition{}, slices.Concat(names,
			[]string{"cmp_0 upserted", "cmp_1 upserted", "cmp_2 upserted", "cmp_3 upserted"})},
		"from nothing, of an industry": {ofA, lead.FeedPosition{}, slices.Concat(names, []string{"cmp_1 upserted", "cmp_3 upserted"})},
		"with a copy": {ofA, s.FeedSince(time.Time{}), slices.Concat(names,
			[]string{"cmp_0 left", "cmp_1 upserted", "cmp_2 left", "cmp_3 upserted", "cmp_4 removed", "cmp_5 removed"})},
		"with a copy, by a view": {seesA, s.FeedSince(sampleStart), []string{"ind_a taxonomy", "vrt_a taxonomy",
			"cmp_0 left", "cmp_1 upserted", "cmp_2 left", "cmp_3 upserted", "cmp_4 left", "cmp_5 removed"}},
		"since a lead": {lead.Filter{}, s.FeedSince(sampleStart.Add(3 * time.Minute)),
			[]string{"cmp_3 upserted", "cmp_4 removed", "cmp_5 removed"}},
		"since a removal": {lead.Filter{}, s.FeedSince(sampleStart.Add(65 * time.Minute)), []string{"cmp_5 removed"}},
		"since the end":   {lead.Filter{}, s.FeedSince(sampleStart.Add(66 * time.Minute)), nil},
	} {
		for _, size := range []int{1, 2, 3, 100} {
			if got := told(t, s, c.filter, c.from, size); !slices.Equal(got, c.want) {
				t.Errorf("%s, in pages of %d: %v; want %v", what, size, got, c.want)
			}
		}
	}
}

func TestASampleIsInTheOrderOfTheExport(t *testing.T) {
	t.Parallel()
	s := sample()
	page := s.Search(lead.Query{Size: 2, Skip: 1, After: lead.Place{UpdatedAt: sampleStart, ID: "cmp_0"}})
	if page.Total != 4 || page.More || len(page.Leads) != 2 || page.Leads[0].Place.ID != "cmp_2" || page.Leads[1].Place.ID != "cmp_3" ||
		page.State != s.State() || !page.State.ChangedAt.Equal(sampleStart.Add(65*time.Minute)) {
		t.Errorf("%+v", page)
	}
	view := lead.View{Industries: []id.Industry{"ind_b"}}
	removed := s.Removed(lead.RemovedQuery{View: view, Size: 1})
	if removed.Total != 1 || removed.More || removed.Leads[0].ID != "cmp_4" {
		t.Errorf("%+v", removed)
	}
	if removed := s.Removed(lead.RemovedQuery{Since: sampleStart.Add(65 * time.Minute), Size: 1}); removed.Total != 1 {
		t.Errorf("%+v", removed)
	}
	place, found := s.RemovedPlace(lead.View{}, "cmp_5")
	if _, shown := s.RemovedPlace(view, "cmp_5"); !found || shown || !place.UpdatedAt.Equal(sampleStart.Add(5*time.Minute)) {
		t.Errorf("%+v", place)
	}
	if _, isThere := s.Get("cmp_5"); isThere {
		t.Error("a lead that was removed is there")
	}
	campaigns := s.Campaigns(lead.CampaignQuery{Size: 1})
	if campaigns.Total != 2 || !campaigns.More || campaigns.Campaigns[0].ID != "cam_x" || campaigns.Campaigns[0].LeadCount != 4 {
		t.Errorf("%+v", campaigns)
	}
}
