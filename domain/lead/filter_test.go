package lead_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// acme is in two campaigns, has a website, 4.5 stars and was updated at noon.
func acme() lead.Lead {
	return lead.Lead{
		ID: "cmp_acme", Name: "Acme", Website: "acme.example", Rating: 450, Enrichment: lead.Deep, Industry: health, Vertical: dental,
		Campaigns: []id.Campaign{autumn, spring}, CreatedAt: noon, UpdatedAt: noon,
	}
}

func TestAFilterMatchesLeadsToWhichAllOfItApplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		filter lead.Filter
		change func(*lead.Lead)
		want   bool
	}{
		"nothing asked":            {want: true},
		"nothing asked, bare lead": {change: func(l *lead.Lead) { *l = lead.Lead{ID: "cmp_a", Rating: lead.Unrated} }, want: true},

		"one campaign":       {filter: lead.Filter{Campaign: spring}, want: true},
		"the other campaign": {filter: lead.Filter{Campaign: autumn}, want: true},
		"another campaign":   {filter: lead.Filter{Campaign: "cam_else"}},
		"no campaign":        {filter: lead.Filter{Campaign: spring}, change: func(l *lead.Lead) { l.Campaigns = nil }},
		"industry":           {filter: lead.Filter{Industry: health}, want: true},
		"another industry":   {filter: lead.Filter{Industry: trade}},
		"no industry":        {filter: lead.Filter{Industry: health}, change: func(l *lead.Lead) { l.Industry = "" }},
		"vertical":           {filter: lead.Filter{Vertical: dental}, want: true},
		"another vertical":   {filter: lead.Filter{Vertical: eyes}},
		"no vertical":        {filter: lead.Filter{Vertical: dental}, change: func(l *lead.Lead) { l.Vertical = "" }},
		"website":            {filter: lead.Filter{HasWebsite: new(true)}, want: true},
		"website wanted":     {filter: lead.Filter{HasWebsite: new(true)}, change: func(l *lead.Lead) { l.Website = "" }},
		"website not wanted": {filter: lead.Filter{HasWebsite: new(false)}},
		"no website":         {filter: lead.Filter{HasWebsite: new(false)}, change: func(l *lead.Lead) { l.Website = "" }, want: true},
		"rating, equal":      {filter: lead.Filter{MinRating: new(lead.Rating(450))}, want: true},
		"rating, lower":      {filter: lead.Filter{MinRating: new(lead.Rating(449))}, want: true},
		"rating, higher":     {filter: lead.Filter{MinRating: new(lead.Rating(451))}},
		"rating 0": {filter: lead.Filter{MinRating: new(lead.Rating(0))}, change: func(l *lead.Lead) { l.Rating = 0 },
			want: true},
		"rating 0, unrated": {filter: lead.Filter{MinRating: new(lead.Rating(0))},
			change: func(l *lead.Lead) { l.Rating = lead.Unrated }},
		"any rating, unrated":  {change: func(l *lead.Lead) { l.Rating = lead.Unrated }, want: true},
		"enrichment":           {filter: lead.Filter{Enrichment: lead.Deep}, want: true},
		"shallower enrichment": {filter: lead.Filter{Enrichment: lead.Standard}},
		"none is a depth":      {filter: lead.Filter{Enrichment: lead.None}},
		"none": {filter: lead.Filter{Enrichment: lead.None}, change: func(l *lead.Lead) { l.Enrichment = lead.None },
			want: true},
		"since before":          {filter: lead.Filter{Since: noon.Add(-time.Millisecond)}, want: true},
		"since then":            {filter: lead.Filter{Since: noon}, want: true},
		"since then, elsewhere": {filter: lead.Filter{Since: noon.In(time.FixedZone("", 3600))}, want: true},
		"since after":           {filter: lead.Filter{Since: noon.Add(time.Millisecond)}},
	} {
		one := acme()
		if c.change != nil {
			c.change(&one)
		}
		if got := c.filter.Match(one); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAFilterMatchesWhatEachOfItsPartsMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := lead.Lead{
			Website:    rapid.SampledFrom([]string{"", "acme.example"}).Draw(t, "website"),
			Rating:     rapid.SampledFrom([]lead.Rating{lead.Unrated, 0, 250, 500}).Draw(t, "rating"),
			Enrichment: rapid.SampledFrom(lead.Enrichments()).Draw(t, "enrichment"),
			Industry:   rapid.SampledFrom([]id.Industry{"", health, trade}).Draw(t, "industry"),
			Vertical:   rapid.SampledFrom([]id.Vertical{"", dental, shops}).Draw(t, "vertical"),
			Campaigns:  rapid.SampledFrom([][]id.Campaign{nil, {spring}, {autumn, spring}}).Draw(t, "campaigns"),
			UpdatedAt:  noon.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "updated"))),
		}
		parts := []lead.Filter{
			{Campaign: rapid.SampledFrom([]id.Campaign{"", spring, autumn}).Draw(t, "in campaign")},
			{Industry: rapid.SampledFrom([]id.Industry{"", health}).Draw(t, "in industry")},
			{Vertical: rapid.SampledFrom([]id.Vertical{"", dental}).Draw(t, "in vertical")},
			{HasWebsite: rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "has website")},
			{MinRating: rapid.SampledFrom([]*lead.Rating{nil, new(lead.Rating(0)), new(lead.Rating(251))}).Draw(t, "least rating")},
			{Enrichment: rapid.SampledFrom([]lead.Enrichment{"", lead.None, lead.Deep}).Draw(t, "of enrichment")},
			{Since: rapid.SampledFrom([]time.Time{{}, noon}).Draw(t, "since")},
		}
		all := lead.Filter{
			Campaign: parts[0].Campaign, Industry: parts[1].Industry, Vertical: parts[2].Vertical, HasWebsite: parts[3].HasWebsite,
			MinRating: parts[4].MinRating, Enrichment: parts[5].Enrichment, Since: parts[6].Since,
		}
		want := !slices.ContainsFunc(parts, func(part lead.Filter) bool { return !part.Match(one) })
		if got := all.Match(one); got != want {
			t.Fatalf("%v; its parts say %v", got, want)
		}
	})
}

func TestPlacesHaveOneOrder(t *testing.T) {
	t.Parallel()
	if (lead.Place{}).Compare(lead.Place{UpdatedAt: time.UnixMilli(0), ID: "cmp_0"}) >= 0 {
		t.Error("the zero place is not before all leads")
	}
	if one := acme(); one.Place() != (lead.Place{UpdatedAt: noon, ID: "cmp_acme"}) {
		t.Errorf("%v", one.Place())
	}
	place := rapid.Custom(func(t *rapid.T) lead.Place {
		zone := time.FixedZone("", rapid.SampledFrom([]int{0, 3600}).Draw(t, "zone"))
		return lead.Place{
			UpdatedAt: noon.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "after noon"))).In(zone),
			ID:        id.Lead(rapid.SampledFrom([]string{"cmp_1", "cmp_10", "cmp_9", "cmp_A", "cmp_a", "cmp_-"}).Draw(t, "id")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := place.Draw(t, "a"), place.Draw(t, "b"), place.Draw(t, "c")
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("%d, %d", a.Compare(b), b.Compare(a))
		}
		if (a.Compare(b) == 0) != (a.UpdatedAt.Equal(b.UpdatedAt) && a.ID == b.ID) {
			t.Fatalf("%v and %v: %d", a, b, a.Compare(b))
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("%v, %v and %v go round in circles", a, b, c)
		}
		if a.UpdatedAt.Before(b.UpdatedAt) && a.Compare(b) >= 0 || a.UpdatedAt.Equal(b.UpdatedAt) && a.ID < b.ID && a.Compare(b) >= 0 {
			t.Fatalf("%v is not before %v", a, b)
		}
	})
}
