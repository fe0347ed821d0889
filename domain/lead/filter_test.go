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
		ID: "cmp_acme", Name: "Acme", Email: "Info@ACME.example", Website: "https://www.acme.example/", Rating: 450,
		Enrichment: lead.Deep, Industry: health, Vertical: dental,
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

		"one campaign":       {filter: lead.Filter{Campaigns: []id.Campaign{spring}}, want: true},
		"the other campaign": {filter: lead.Filter{Campaigns: []id.Campaign{autumn}}, want: true},
		"another campaign":   {filter: lead.Filter{Campaigns: []id.Campaign{"cam_else"}}},
		"no campaign":        {filter: lead.Filter{Campaigns: []id.Campaign{spring}}, change: func(l *lead.Lead) { l.Campaigns = nil }},
		"industry":           {filter: lead.Filter{Industries: []id.Industry{health}}, want: true},
		"another industry":   {filter: lead.Filter{Industries: []id.Industry{trade}}},
		"no industry":        {filter: lead.Filter{Industries: []id.Industry{health}}, change: func(l *lead.Lead) { l.Industry = "" }},
		"vertical":           {filter: lead.Filter{Verticals: []id.Vertical{dental}}, want: true},
		"another vertical":   {filter: lead.Filter{Verticals: []id.Vertical{eyes}}},
		"no vertical":        {filter: lead.Filter{Verticals: []id.Vertical{dental}}, change: func(l *lead.Lead) { l.Vertical = "" }},
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
		"enrichment":           {filter: lead.Filter{Enrichments: []lead.Enrichment{lead.Deep}}, want: true},
		"shallower enrichment": {filter: lead.Filter{Enrichments: []lead.Enrichment{lead.Standard}}},
		"none is a depth":      {filter: lead.Filter{Enrichments: []lead.Enrichment{lead.None}}},
		"none": {filter: lead.Filter{Enrichments: []lead.Enrichment{lead.None}}, change: func(l *lead.Lead) { l.Enrichment = lead.None },
			want: true},
		"since before":          {filter: lead.Filter{Since: noon.Add(-time.Millisecond)}, want: true},
		"since then":            {filter: lead.Filter{Since: noon}, want: true},
		"since then, elsewhere": {filter: lead.Filter{Since: noon.In(time.FixedZone("", 3600))}, want: true},
		"since after":           {filter: lead.Filter{Since: noon.Add(time.Millisecond)}},
		"updated before":        {filter: lead.Filter{UpdatedBefore: noon.Add(time.Millisecond)}, want: true},
		"updated just then":     {filter: lead.Filter{UpdatedBefore: noon}},
		"created before":        {filter: lead.Filter{CreatedBefore: noon.Add(time.Millisecond)}, want: true},
		"created just then":     {filter: lead.Filter{CreatedBefore: noon}},
		"created long before": {filter: lead.Filter{CreatedBefore: noon}, change: func(l *lead.Lead) { l.CreatedAt = noon.Add(-time.Hour) },
			want: true},
		"most rating, equal": {filter: lead.Filter{MaxRating: new(lead.Rating(450))}, want: true},
		"most rating, lower": {filter: lead.Filter{MaxRating: new(lead.Rating(449))}},
		"most rating, unrated": {filter: lead.Filter{MaxRating: new(lead.MostRating)},
			change: func(l *lead.Lead) { l.Rating = lead.Unrated }},

		"one of two campaigns":  {filter: lead.Filter{Campaigns: []id.Campaign{"cam_else", spring}}, want: true},
		"one of two industries": {filter: lead.Filter{Industries: []id.Industry{trade, health, trade}}, want: true},
		"none of two verticals": {filter: lead.Filter{Verticals: []id.Vertical{eyes, shops}}},
		"one of two depths":     {filter: lead.Filter{Enrichments: []lead.Enrichment{lead.None, lead.Deep}}, want: true},
		"one of two ids":        {filter: lead.Filter{IDs: []id.Lead{"cmp_b", "cmp_acme"}}, want: true},
		"another id":            {filter: lead.Filter{IDs: []id.Lead{"cmp_ACME"}}},
		"domain":                {filter: lead.Filter{Domain: "acme.example"}, want: true},
		"another domain":        {filter: lead.Filter{Domain: "shop.acme.example"}},
		"address":               {filter: lead.Filter{Email: "info@acme.example"}, want: true},
		"another address":       {filter: lead.Filter{Email: "acme.example"}},
		"a view of a campaign":  {filter: lead.Filter{View: lead.View{Campaigns: []id.Campaign{spring}}}, want: true},
		"a view of another":     {filter: lead.Filter{View: lead.View{Campaigns: []id.Campaign{"cam_else"}}}},
		"a view of an industry": {filter: lead.Filter{View: lead.View{Industries: []id.Industry{trade, health}}}, want: true},
		"a view of neither": {filter: lead.Filter{View: lead.View{
			Industries: []id.Industry{health}, Campaigns: []id.Campaign{"cam_else"},
		}}},
		"a view without people": {filter: lead.Filter{View: lead.View{NoContacts: true}}, want: true},
		"a view beside a campaign": {filter: lead.Filter{
			Campaigns: []id.Campaign{autumn}, View: lead.View{Campaigns: []id.Campaign{spring}},
		}, want: true},
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
			CreatedAt:  noon.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "created"))),
		}
		parts := []lead.Filter{
			{Campaigns: rapid.SampledFrom([][]id.Campaign{nil, {spring}, {autumn, spring}}).Draw(t, "in campaigns")},
			{Industries: rapid.SampledFrom([][]id.Industry{nil, {health}, {trade, health}}).Draw(t, "in industries")},
			{Verticals: rapid.SampledFrom([][]id.Vertical{nil, {dental}, {shops, dental}}).Draw(t, "in verticals")},
			{HasWebsite: rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "has website")},
			{MinRating: rapid.SampledFrom([]*lead.Rating{nil, new(lead.Rating(0)), new(lead.Rating(251))}).Draw(t, "least rating")},
			{MaxRating: rapid.SampledFrom([]*lead.Rating{nil, new(lead.Rating(0)), new(lead.Rating(250))}).Draw(t, "most rating")},
			{Enrichments: rapid.SampledFrom([][]lead.Enrichment{nil, {lead.None}, {lead.Deep, lead.Basic}}).Draw(t, "of enrichments")},
			{Since: rapid.SampledFrom([]time.Time{{}, noon}).Draw(t, "since")},
			{UpdatedBefore: rapid.SampledFrom([]time.Time{{}, noon}).Draw(t, "updated before")},
			{CreatedBefore: rapid.SampledFrom([]time.Time{{}, noon}).Draw(t, "created before")},
			{Domain: rapid.SampledFrom([]string{"", "acme.example"}).Draw(t, "domain")},
			{View: lead.View{Campaigns: rapid.SampledFrom([][]id.Campaign{nil, {spring}}).Draw(t, "shown campaigns")}},
		}
		all := lead.Filter{
			Campaigns: parts[0].Campaigns, Industries: parts[1].Industries, Verticals: parts[2].Verticals, HasWebsite: parts[3].HasWebsite,
			MinRating: parts[4].MinRating, MaxRating: parts[5].MaxRating, Enrichments: parts[6].Enrichments, Since: parts[7].Since,
			UpdatedBefore: parts[8].UpdatedBefore, CreatedBefore: parts[9].CreatedBefore, Domain: parts[10].Domain, View: parts[11].View,
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

func TestDomainsAndAddressesAreComparedAsPeopleMeanThem(t *testing.T) {
	t.Parallel()
	for website, want := range map[string]string{
		"": "", "acme.example": "acme.example", "HTTP://WWW.Acme.Example:80/": "acme.example", "https://acme.example?x=a@b": "acme.example",
		"//acme.example/a/b": "acme.example", "www.acme.example.": "acme.example",
		"https://user:word@acme.example:8443#top": "",
		"shop.acme.example":                       "shop.acme.example", "Bücher.example": "xn--bcher-kva.example",
		"xn--bcher-kva.example":          "xn--bcher-kva.example",
		"acme.example/www.other.example": "acme.example", "not a domain": "", "/path": "", "[2001:db8::1]": "",
	} {
		if got := lead.DomainOf(website); got != want {
			t.Errorf("%q: %q", website, got)
		}
	}
	for sent, want := range map[string]string{
		"Info@B\u00dcCHER.example": "info@xn--bcher-kva.example", "info@XN--BCHER-KVA.example": "info@xn--bcher-kva.example",
		"J\u00dcRGEN@acme.example": "j\u00fcrgen@acme.example", "info@b\u00fc_cher.example": "info@b\u00fc_cher.example",
		"b\u00fccher": "b\u00fccher",
	} {
		if got := lead.EmailOf(sent); got != want {
			t.Errorf("%s: %s", sent, got)
		}
	}
	former := lead.HashOf("info@b\u00fccher.example") // as stores have it of before
	if got := lead.EmailHashes("info@xn--bcher-kva.example"); len(got) != 2 || got[1] != former || len(lead.EmailHashes("")) != 0 {
		t.Errorf("%v", got)
	}
	if got := lead.EmailOf(" Info@ACME.example "); got != "info@acme.example" {
		t.Errorf("%q", got)
	}
	if lead.HashOf("") != 0 || lead.HashOf("acme.example") == 0 || lead.HashOf("acme.example") == lead.HashOf("acme.exampl") {
		t.Error("hashes")
	}
}

func TestWhatAFilterAsksForIsSomething(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{"WWW.Acme.example": true, "": false, " ": false, "localhost": false, "127.0.0.1": false} {
		if got, ok := lead.ParseDomain(domain); ok != want || ok != (got != "") {
			t.Errorf("%q: %q, %t", domain, got, ok)
		}
	}
	for email, want := range map[string]bool{
		"Info@acme.example": true, "": false, " ": false, "acme": false, "a@b,c@d": false, "a b@c": false,
	} {
		if got, ok := lead.ParseEmail(email); ok != want || got != lead.EmailOf(email) {
			t.Errorf("%q: %q, %t", email, got, ok)
		}
	}
	for level, want := range map[string]bool{"none": true, "deep": true, "": false, "Deep": false} {
		if _, ok := lead.ParseEnrichment(level); ok != want {
			t.Errorf("%q: %t", level, ok)
		}
	}
	for wrong, list := range map[string][]string{
		"": slices.Repeat([]string{"a"}, lead.MostListed), "has no value": nil, "has an empty element": {"a", ""},
		"names 101 values; at most 100 are allowed": slices.Repeat([]string{"a"}, lead.MostListed+1),
	} {
		if got := lead.WrongList(list); got != wrong {
			t.Errorf("%q; want %q", got, wrong)
		}
	}
}
