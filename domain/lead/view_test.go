package lead_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestAViewShowsWhatItIsNarrowedTo(t *testing.T) {
	t.Parallel()
	if got := (lead.View{}).Of(taxonomy); cmp.Diff(taxonomy, got) != "" {
		t.Errorf("%+v", got)
	}
	got := lead.View{Industries: []id.Industry{trade, "ind_else"}}.Of(taxonomy)
	want := lead.Taxonomy{Industries: taxonomy.Industries[1:], Verticals: taxonomy.Verticals[2:], Geographies: taxonomy.Geographies}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	ofHealth := lead.Campaign{ID: spring, Industry: health}
	for _, c := range []struct {
		view lead.View
		want bool
	}{
		{lead.View{}, true},
		{lead.View{NoContacts: true}, true},
		{lead.View{Campaigns: []id.Campaign{autumn, spring}}, true},
		{lead.View{Campaigns: []id.Campaign{autumn}}, false},
		{lead.View{Industries: []id.Industry{health}}, true},
		{lead.View{Industries: []id.Industry{trade}}, false},
		{lead.View{Campaigns: []id.Campaign{spring}, Industries: []id.Industry{trade}}, false},
	} {
		if got := (lead.CampaignFilter{View: c.view}).Match(ofHealth); got != c.want {
			t.Errorf("%+v: %v", c.view, got)
		}
	}
	names := lead.Names{}.WithCampaigns(map[id.Campaign]id.Industry{spring: health, autumn: trade})
	for _, c := range []struct {
		view        lead.View
		asked, want []id.Campaign
	}{
		{lead.View{}, []id.Campaign{spring, "cam_none"}, []id.Campaign{spring, "cam_none"}},
		{lead.View{Industries: []id.Industry{health}}, nil, nil},
		{lead.View{Industries: []id.Industry{health}}, []id.Campaign{autumn, spring, "cam_none"}, []id.Campaign{spring}},
		{lead.View{Industries: []id.Industry{health}}, []id.Campaign{autumn}, nil},
		{lead.View{Campaigns: []id.Campaign{autumn}}, []id.Campaign{spring, autumn}, []id.Campaign{autumn}},
		{lead.View{Campaigns: []id.Campaign{autumn}, Industries: []id.Industry{health}}, []id.Campaign{spring, autumn}, nil},
	} {
		got := lead.Filter{Campaigns: c.asked, View: c.view}.Seen(names)
		one := lead.Lead{Industry: health, Campaigns: []id.Campaign{autumn, spring}}
		if !slices.Equal(got.Campaigns, c.want) || got.Match(one) != (len(c.want) > 0 || len(c.asked) == 0) {
			t.Errorf("%+v of %v: %+v", c.view, c.asked, got)
		}
	}
	if (lead.View{Industries: []id.Industry{health}}).ShowsCampaign(lead.Campaign{ID: spring}) {
		t.Error("a campaign of no industry is shown to who sees one industry")
	}
	seen := map[string]bool{}
	for _, view := range []lead.View{
		{}, {NoContacts: true}, {Campaigns: []id.Campaign{spring}}, {Campaigns: []id.Campaign{spring}, NoContacts: true},
		{Industries: []id.Industry{health}}, {Industries: []id.Industry{health, trade}},
	} {
		if seen[view.Text()] {
			t.Errorf("%+v", view)
		}
		seen[view.Text()] = true
	}
}

func TestAViewNamesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	taxonomy := lead.Taxonomy{Industries: []lead.Industry{{ID: "ind_food"}}}
	view := lead.View{Campaigns: []id.Campaign{"cam_1", "cam_nope"}, Industries: []id.Industry{"ind_food", "ind_nope"}}
	if got := view.Unknown(taxonomy, []lead.Campaign{{ID: "cam_1"}}); !slices.Equal(got, []string{"cam_nope", "ind_nope"}) {
		t.Error(got)
	}
	if got := (lead.View{}).Unknown(taxonomy, nil); len(got) != 0 {
		t.Error(got)
	}
}
