package lead_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestACampaignFilterMatchesCampaignsToWhichAllOfItApplies(t *testing.T) {
	t.Parallel()
	one := lead.Campaign{ID: spring, Status: lead.StatusActive, Industry: health, Vertical: dental, Geography: berlin, LeadCount: 3}
	for name, c := range map[string]struct {
		filter lead.CampaignFilter
		count  int64
		want   bool
	}{
		"nothing asked":      {want: true},
		"status":             {filter: lead.CampaignFilter{Status: lead.StatusActive}, want: true},
		"another status":     {filter: lead.CampaignFilter{Status: lead.StatusDraft}},
		"industry":           {filter: lead.CampaignFilter{Industry: health}, want: true},
		"another industry":   {filter: lead.CampaignFilter{Industry: trade}},
		"vertical":           {filter: lead.CampaignFilter{Vertical: dental}, want: true},
		"another vertical":   {filter: lead.CampaignFilter{Vertical: eyes}},
		"geography":          {filter: lead.CampaignFilter{Geography: berlin}, want: true},
		"another geography":  {filter: lead.CampaignFilter{Geography: "geo_bonn"}},
		"with leads":         {filter: lead.CampaignFilter{HasLeads: new(true)}, count: 1, want: true},
		"with leads, none":   {filter: lead.CampaignFilter{HasLeads: new(true)}},
		"without leads":      {filter: lead.CampaignFilter{HasLeads: new(false)}, want: true},
		"without leads, one": {filter: lead.CampaignFilter{HasLeads: new(false)}, count: 1},
		"so many leads":      {filter: lead.CampaignFilter{MinLeads: 3}, count: 3, want: true},
		"not so many":        {filter: lead.CampaignFilter{MinLeads: 4}, count: 3},
		"all of it": {filter: lead.CampaignFilter{Status: lead.StatusActive, Industry: health, MinLeads: 1}, count: 1,
			want: true},
		"all of it but the last": {filter: lead.CampaignFilter{Status: lead.StatusActive, Industry: health, MinLeads: 1}},
	} {
		one.LeadCount = c.count
		if got := c.filter.Match(one); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCampaignsStandByTheirLastChangeAndTheirID(t *testing.T) {
	t.Parallel()
	places := []lead.CampaignPlace{
		{},
		lead.Campaign{ID: "cam_2", UpdatedAt: noon}.Place(),
		lead.Campaign{ID: "cam_a", UpdatedAt: noon}.Place(),
		lead.Campaign{ID: "cam_1", UpdatedAt: noon.Add(1)}.Place(),
	}
	for i, one := range places {
		for j, other := range places {
			if got := one.Compare(other); got != max(-1, min(1, i-j)) {
				t.Errorf("%v and %v: %d", one, other, got)
			}
		}
	}
}

func TestACampaignIsShownWithItsNames(t *testing.T) {
	t.Parallel()
	names, err := taxonomy.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		campaign lead.Campaign
		want     string
	}{
		{
			lead.Campaign{
				ID: spring, Name: `Spring "2026" <&>`, Status: lead.StatusPaused, Industry: trade, Vertical: shops, Geography: berlin,
				LeadCount: 1 << 40,
				CreatedAt: noon, UpdatedAt: noon.Add(time.Millisecond),
			},
			`{"id":"cam_spring","name":"Spring \"2026\" <&>","status":"paused",` +
				`"industry":{"id":"ind_trade","name":"Trade & <Co>","slug":"trade"},` +
				`"vertical":{"id":"vrt_shops","name":"Shops","slug":"shops"},` +
				`"geography":{"id":"geo_berlin","name":"Berlin","slug":"berlin","country_code":"DE"},"lead_count":1099511627776,` +
				`"created_at":"2026-04-11T12:00:00.000Z","updated_at":"2026-04-11T12:00:00.001Z"}`,
		},
		{
			lead.Campaign{ID: autumn, Name: "Autumn", Status: lead.StatusDraft, CreatedAt: noon, UpdatedAt: noon},
			`{"id":"cam_autumn","name":"Autumn","status":"draft","industry":null,"vertical":null,"geography":null,"lead_count":0,` +
				`"created_at":"2026-04-11T12:00:00.000Z","updated_at":"2026-04-11T12:00:00.000Z"}`,
		},
	} {
		got, err := c.campaign.Fields(names).MarshalJSON()
		if diff := cmp.Diff(c.want, string(got)); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

func TestADraftBecomesACampaign(t *testing.T) {
	t.Parallel()
	got, err := lead.CampaignDraft{
		ID: "cam_1", Name: " Spring ", Status: "completed", Vertical: string(dental), Geography: string(berlin), CreatedAt: "not looked at",
	}.Campaign(catalog)
	want := lead.Campaign{ID: "cam_1", Name: "Spring", Status: lead.StatusCompleted, Industry: health, Vertical: dental, Geography: berlin}
	if got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = lead.CampaignDraft{ID: "cam_1", Name: "Spring", Status: " ", Industry: " ", Vertical: " ", Geography: " "}.Campaign(catalog)
	if want := (lead.Campaign{ID: "cam_1", Name: "Spring", Status: lead.StatusDraft}); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADraftOfACampaignReportsAllThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		draft lead.CampaignDraft
		id    id.Campaign
		want  map[string]string
	}{
		{
			lead.CampaignDraft{
				Status: "over", Industry: "ind_none", Vertical: "vrt_none", Geography: "geo_none",
				Problems: fault.Problems{fault.Fieldf("color", fault.UnknownField, "no")},
			}, "",
			map[string]string{
				"color": fault.UnknownField, "id": fault.Required, "name": fault.Required, "status": fault.UnknownValue,
				"industry_id": fault.UnknownValue, "vertical_id": fault.UnknownValue, "geography_id": fault.UnknownValue,
			},
		},
		{
			lead.CampaignDraft{ID: "spring", Name: strings.Repeat("a", 201), Status: "Draft", Geography: "DE"}, "",
			map[string]string{"id": fault.InvalidFormat, "name": fault.TooLong, "status": fault.UnknownValue,
				"geography_id": fault.InvalidFormat},
		},
		{lead.CampaignDraft{ID: "cam_1", Name: "a\x00"}, "cam_1", map[string]string{"name": fault.InvalidCharacters}},
	} {
		made, err := c.draft.Campaign(catalog)
		if diff := cmp.Diff(c.want, codes(err)); diff != "" || made != (lead.Campaign{ID: c.id}) ||
			fault.CodeOf(err) != fault.ValidationFailed {
			t.Errorf("%s; %+v", diff, made)
		}
	}
}

func TestEveryStatusIsRead(t *testing.T) {
	t.Parallel()
	for _, status := range lead.Statuses() {
		made, err := lead.CampaignDraft{ID: "cam_1", Name: "Spring", Status: string(status)}.Campaign(catalog)
		if made.Status != status || err != nil {
			t.Errorf("%s: %s, %v", status, made.Status, err)
		}
	}
	if all, err := json.Marshal(lead.Statuses()); string(all) != `["draft","active","paused","completed"]` || err != nil {
		t.Errorf("%s, %v", all, err)
	}
}

// TestCampaignsAreMergedOneAfterTheOther compares batches with storing campaigns one by one.
func TestCampaignsAreMergedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := map[id.Campaign]lead.Campaign{}
		at := noon
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			at = at.Add(time.Second)
			batch := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) lead.Campaign {
				one := lead.Campaign{
					ID:     id.Campaign(rapid.SampledFrom([]string{"cam_1", "cam_2", "cam_3"}).Draw(t, "id")),
					Name:   rapid.SampledFrom([]string{"Spring", "Autumn"}).Draw(t, "name"),
					Status: lead.StatusActive,
				}
				if rapid.Bool().Draw(t, "keeps timestamps") {
					one.CreatedAt = noon.Add(-time.Duration(rapid.IntRange(1, 2).Draw(t, "hours")) * time.Hour).In(time.FixedZone("", 3600))
					one.UpdatedAt = one.CreatedAt
				}
				return one
			}), 0, 5).Draw(t, "batch")

			after, want := apply(stored, batch, at)
			changed, change := lead.MergeCampaigns(batch, stored, at)
			got := maps.Clone(stored)
			for _, one := range changed {
				got[one.ID] = one
			}
			if diff := cmp.Diff(after, got); diff != "" || change != want || len(changed) != want.Inserted+want.Updated {
				t.Fatalf("%+v, want %+v: %s", change, want, diff)
			}
			stored = got
			for which, one := range stored { // leads come and go meanwhile
				one.LeadCount += rapid.Int64Range(0, 2).Draw(t, "leads")
				stored[which] = one
			}
			if _, again := lead.MergeCampaigns(batch, stored, at.Add(time.Second)); again.Any() || again.Unchanged != len(batch) {
				t.Fatalf("the same batch again: %+v", again)
			}
		}
	})
}

// apply keeps the last campaign of each id.
func apply(stored map[id.Campaign]lead.Campaign, batch []lead.Campaign, at time.Time) (map[id.Campaign]lead.Campaign, lead.Change) {
	next, change := maps.Clone(stored), lead.Change{}
	for i, one := range batch {
		later := slices.ContainsFunc(batch[i+1:], func(other lead.Campaign) bool { return other.ID == one.ID })
		before, exists := stored[one.ID]
		moved := !one.UpdatedAt.Equal(before.UpdatedAt) || !one.CreatedAt.Equal(before.CreatedAt)
		differs := one.Name != before.Name || !one.UpdatedAt.IsZero() && moved
		switch {
		case later || exists && !differs:
			change.Unchanged++
			continue
		case exists:
			change.Updated++
		default:
			change.Inserted++
		}
		one.LeadCount = before.LeadCount
		if one.UpdatedAt.IsZero() {
			one.CreatedAt, one.UpdatedAt = at, at
			if exists {
				one.CreatedAt = before.CreatedAt
			}
		}
		next[one.ID] = one
	}
	return next, change
}
