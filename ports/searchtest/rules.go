package searchtest

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

func emptyStore(f *fixture) {
	f.check(lead.Query{Size: 10})
	f.catchUp()
	f.check(lead.Query{Size: 10})
	f.check(lead.Query{Size: 10, Uncounted: true})
	f.check(lead.Query{Size: 1, Skip: math.MaxInt64, Filter: enrichedAs(lead.Deep)})
}

func filters(f *fixture) {
	f.keep(
		newLead("plain"),
		newLead("site", func(l *lead.Lead) { l.Website = "example.com" }),
		newLead("spring", func(l *lead.Lead) { l.Campaigns = campaigns[:1] }),
		newLead("spring2", func(l *lead.Lead) { l.Campaigns = campaigns[1:2] }),
		newLead("both", func(l *lead.Lead) { l.Campaigns = campaigns[:2] }),
		newLead("food", func(l *lead.Lead) { l.Industry = "ind_food" }),
		newLead("wine", func(l *lead.Lead) { l.Industry, l.Vertical = "ind_food", "vrt_wine" }),
		newLead("deep", func(l *lead.Lead) { l.Enrichment = lead.Deep }),
		newLead("worst", func(l *lead.Lead) { l.Rating = 0 }),
		newLead("fair", func(l *lead.Lead) { l.Rating = 399 }),
		newLead("good", func(l *lead.Lead) { l.Rating = 400 }),
		newLead("best", func(l *lead.Lead) { l.Rating = lead.MostRating }),
		newLead("all", func(l *lead.Lead) {
			l.Website, l.Campaigns, l.Industry, l.Vertical = "example.com", campaigns[:3], "ind_food", "vrt_wine"
			l.Rating, l.Enrichment = 450, lead.Deep
		}),
	)
	f.catchUp()
	yes, no := true, false
	for _, filter := range []lead.Filter{
		inCampaign("cam_spring"), inCampaign("cam_spring2"), inCampaign("cam_none"),
		inIndustry("ind_food"), inVertical("vrt_wine"), inVertical("vrt_saws"),
		{HasWebsite: &yes}, {HasWebsite: &no}, enrichedAs(lead.Deep), enrichedAs(lead.None), enrichedAs(lead.Basic),
		inCampaign("cam_spring", "cam_spring2"), inCampaign("cam_none", "cam_unknown", "cam_spring2", "cam_none"),
		inIndustry("ind_food", "ind_tools"), inVertical("vrt_saws", "vrt_bread", "vrt_wine"), enrichedAs(lead.Enrichments()...),
		{
			Campaigns: []id.Campaign{"cam_spring"}, Industries: []id.Industry{"ind_food"}, Verticals: []id.Vertical{"vrt_wine"},
			HasWebsite: &yes, Enrichments: []lead.Enrichment{lead.Deep},
		},
		{View: lead.View{Campaigns: []id.Campaign{"cam_spring2"}}},
		{View: lead.View{Campaigns: []id.Campaign{"cam_spring2"}}, Campaigns: []id.Campaign{"cam_spring"}},
		{View: lead.View{Industries: []id.Industry{"ind_food"}}},
		{View: lead.View{Industries: []id.Industry{"ind_food"}, Campaigns: []id.Campaign{"cam_spring"}}, HasWebsite: &yes},
		{View: lead.View{NoContacts: true}},
		{None: true}, {None: true, Industries: []id.Industry{"ind_food"}},
	} {
		f.check(lead.Query{Filter: filter, Size: 100})
		f.check(lead.Query{Filter: filter, Size: 1, Uncounted: true})
		f.check(lead.Query{Filter: filter})
	}
	for bound := range lead.MostRating + 1 {
		if bound%50 < 2 || bound%50 == 49 || bound&(bound-1) == 0 {
			f.check(lead.Query{Filter: lead.Filter{MinRating: &bound}, Size: 100})
			f.check(lead.Query{Filter: lead.Filter{MinRating: &bound, Industries: []id.Industry{"ind_food"}}, Size: 100})
			f.check(lead.Query{Filter: lead.Filter{MaxRating: &bound}, Size: 100})
			least := max(0, bound-10)
			f.check(lead.Query{Filter: lead.Filter{MinRating: &least, MaxRating: &bound}, Size: 100})
		}
	}
}

func unknownValues(f *fixture) {
	f.keep(newLead("one", func(l *lead.Lead) { l.Campaigns, l.Industry, l.Vertical = campaigns[:1], "ind_food", "vrt_wine" }))
	f.catchUp()
	for _, filter := range []lead.Filter{
		inCampaign("cam_spri"), inCampaign("cam_SPRING"), inIndustry("ind_foo"), inIndustry("ind_FOOD"),
		inVertical("vrt_%"), inVertical("vrt_win_"),
	} {
		if page := f.check(lead.Query{Filter: filter, Size: 10}); page.Total != 0 {
			f.Fatalf("%+v: %d", filter, page.Total)
		}
	}
}

// inCampaign selects the leads of some campaigns.
func inCampaign(some ...id.Campaign) lead.Filter { return lead.Filter{Campaigns: some} }

func inIndustry(some ...id.Industry) lead.Filter { return lead.Filter{Industries: some} }

func inVertical(some ...id.Vertical) lead.Filter { return lead.Filter{Verticals: some} }

func enrichedAs(some ...lead.Enrichment) lead.Filter { return lead.Filter{Enrichments: some} }

// lookups finds single leads, by what programs know of them.
func lookups(f *fixture) {
	var all []lead.Lead
	for i, site := range []string{
		"", "example.com", "https://www.Example.com/berlin?x=1", "HTTP://EXAMPLE.COM:8080", "example.com.", "shop.example.com",
		"www.example.org", "//example.org/a", "m\u00fcnchen.example", "https://XN--MNCHEN-3YA.example/", "notexample.com", "example.comx",
	} {
		all = append(all, newLead("site"+strconv.Itoa(i), func(l *lead.Lead) {
			l.Website = site
			l.Email = []string{
				"", "info@example.com", "INFO@Example.com", "other@example.com", "Info@m\u00fcnchen.example", "info@XN--MNCHEN-3YA.example",
			}[i%6]
		}))
	}
	f.keep(all...)
	f.keep(newLead("site1", func(l *lead.Lead) { l.Website, l.Email = "example.net", "info@example.net" }))
	f.remove("cmp_site3")
	f.catchUp()
	for _, domain := range []string{
		"example.com", "example.org", "example.net", "shop.example.com", "xn--mnchen-3ya.example", "com", "www.example.com", "EXAMPLE.COM",
	} {
		f.walk(lead.Query{Filter: lead.Filter{Domain: domain}, Size: 2})
		f.check(lead.Query{Filter: lead.Filter{Domain: domain, Email: "info@example.com"}, Size: 9})
	}
	for _, address := range []string{
		"info@example.com", "info@example.net", "nfo@example.com", "INFO@example.com", "info@xn--mnchen-3ya.example",
	} {
		f.walk(lead.Query{Filter: lead.Filter{Email: address}, Size: 1})
	}
	for _, ids := range [][]id.Lead{
		{"cmp_site1"}, {"cmp_site3"}, {"cmp_SITE4"}, {"cmp_site9", "cmp_site4", "cmp_unknown", "cmp_site9", "cmp_site0"},
	} {
		f.walk(lead.Query{Filter: lead.Filter{IDs: ids}, Size: 1})
		f.check(lead.Query{Filter: lead.Filter{IDs: ids, Domain: "example.com"}, Size: 9})
	}
}

func beforeIsExclusive(f *fixture) {
	f.keep(newLead("x"), newLead("y"))
	f.keep(newLead("x", named("other")), newLead("z"))
	f.keep(newLead("old", at(time.Date(2020, time.February, 29, 12, 0, 0, 0, time.UTC))), newLead("y", named("other")))
	f.keep(newLead("z", named("other")))
	f.catchUp()
	for _, one := range f.now() {
		for _, of := range []time.Time{one.UpdatedAt, one.CreatedAt} {
			for _, by := range []time.Duration{-time.Millisecond, -time.Microsecond, 0, time.Microsecond, time.Millisecond, time.Hour} {
				before := of.Add(by)
				f.check(lead.Query{Filter: lead.Filter{UpdatedBefore: before}, Size: 3})
				f.check(lead.Query{Filter: lead.Filter{CreatedBefore: before.In(time.FixedZone("", 3600))}, Size: 3})
				f.check(lead.Query{Filter: lead.Filter{UpdatedBefore: before, Since: one.UpdatedAt}, Size: 3, After: one.Place()})
				f.check(lead.Query{Filter: lead.Filter{UpdatedBefore: one.UpdatedAt, Since: before, CreatedBefore: before}, Size: 3})
			}
		}
	}
	f.check(lead.Query{Filter: lead.Filter{UpdatedBefore: time.Time{}.Add(time.Millisecond)}, Size: 3})
	f.check(lead.Query{Filter: lead.Filter{CreatedBefore: time.Time{}.Add(time.Millisecond)}, Size: 3})
}

func sinceIsInclusive(f *fixture) {
	for range 3 {
		f.keep(newLead("x"), newLead("y"))
		f.keep(newLead("x", named("other")), newLead("z"))
		f.remove("cmp_y")
	}
	f.catchUp()
	for _, one := range f.now() {
		for _, by := range []time.Duration{-time.Millisecond, -time.Microsecond, 0, time.Microsecond, time.Millisecond, 24 * time.Hour} {
			since := one.UpdatedAt.Add(by)
			f.check(lead.Query{Filter: lead.Filter{Since: since}, Size: 10})
			f.check(lead.Query{Filter: lead.Filter{Since: since.In(time.FixedZone("", 3600))}, Size: 1, Skip: 1})
			f.check(lead.Query{Filter: lead.Filter{Since: since}, Size: 10, After: one.Place()})
		}
	}
}

func named(name string) func(*lead.Lead) { return func(l *lead.Lead) { l.Name = name } }

func ties(f *fixture) {
	f.keep(
		newLead("a"), newLead("b"), newLead("B"), newLead("a-"), newLead("a_"), newLead("aA"), newLead("aa"), newLead("0"), newLead("00"),
		newLead("-"), newLead("_"), newLead("Z"), newLead("z"),
	)
	f.keep(newLead("A"), newLead("zz"))
	f.catchUp()
	f.walk(lead.Query{Size: 1})
	f.walk(lead.Query{Size: 4})
}

// walk pages through all that a query finds, and returns the ids.
func (f *fixture) walk(query lead.Query) []id.Lead {
	f.Helper()
	var ids []id.Lead
	for {
		page := f.check(query)
		for _, one := range page.Leads {
			ids = append(ids, one.Place.ID)
		}
		if !page.More {
			return ids
		}
		query.After = page.Leads[len(page.Leads)-1].Place
	}
}

// largePages checks that pages end before they are too large, and add up to the whole; so do pages of the feed.
func largePages(f *fixture) {
	const each, bytes = 10_000, 35_000
	var all []lead.Lead
	for i, one := range numbered(20) {
		if one.Name = strings.Repeat("x", each); i == 7 {
			one.Name = strings.Repeat("x", 2*bytes) // alone
		}
		all = append(all, one)
	}
	f.keep(all...)
	f.catchUp()
	var sizes, fed []int
	query := lead.Query{Size: len(all), Bytes: bytes}
	for more := true; more; {
		page, err := f.subject.Search(f.ctx, query)
		if err != nil {
			f.Fatal(err)
		}
		sizes, more = append(sizes, len(page.Leads)), page.More
		query.After = page.Leads[len(page.Leads)-1].Place
		for i, one := range page.Leads {
			if one.Place.ID != all[i].ID || one.Document.Tail == "" {
				f.Fatalf("%v comes where %v should", one.Place.ID, all[i].ID)
			}
		}
		all = all[len(page.Leads):]
	}
	reader := newFeedReader(lead.Filter{})
	for more := true; more; {
		page, err := f.subject.Store.Leads().Feed(f.ctx, lead.FeedQuery{After: reader.at, Size: query.Size, Bytes: bytes})
		if err != nil {
			f.Fatal(err)
		}
		if err := reader.apply(page, query.Size); err != nil {
			f.Fatal(err)
		}
		leads := slices.DeleteFunc(page.Changes, func(c lead.FeedChange) bool { return c.Kind != lead.Upserted })
		if len(leads) > 0 {
			fed = append(fed, len(leads))
		}
		more = page.More
	}
	want := []int{3, 3, 1, 1, 3, 3, 3, 3}
	if !slices.Equal(sizes, want) || !slices.Equal(fed, want) {
		f.Fatalf("pages of %v leads, and %v of the feed", sizes, fed)
	}
}

func pages(f *fixture) {
	const most, each = 1200, 300
	all := numbered(most, func(l *lead.Lead) { l.Enrichment = lead.Basic })
	for i := range all {
		if i%3 == 0 {
			all[i].Enrichment = lead.Deep
		}
	}
	for batch := range slices.Chunk(all, each) {
		f.keep(batch...)
	}
	f.catchUp()
	for _, filter := range []lead.Filter{{}, enrichedAs(lead.Deep)} {
		for _, size := range []int{170, store.MostKeyed + 1, most} {
			f.walk(lead.Query{Filter: filter, Size: size})
			for skip := int64(0); skip < most; skip += int64(size) {
				f.check(lead.Query{Filter: filter, Size: size, Skip: skip})
			}
		}
	}
}

func places(f *fixture) {
	f.keep(numbered(6)...)
	f.keep(newLead("100001", named("moved")), newLead("100003", named("moved")))
	f.remove("cmp_100004")
	f.catchUp()
	for _, one := range f.now() {
		for _, by := range []time.Duration{-time.Hour, -time.Millisecond, 0, time.Millisecond, time.Hour} {
			for _, which := range []id.Lead{"", "cmp_0", "cmp_100001", "cmp_100002", "cmp_1000020", "cmp_100004", "cmp_z"} {
				f.check(lead.Query{After: lead.Place{UpdatedAt: one.UpdatedAt.Add(by), ID: which}, Size: 2})
			}
		}
	}
	far := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	f.check(lead.Query{After: lead.Place{UpdatedAt: far}, Size: 2})
	f.check(lead.Query{Filter: lead.Filter{Since: far}, Size: 2})
	f.check(lead.Query{Filter: lead.Filter{Since: time.Date(1, time.January, 1, 0, 0, 0, 1, time.UTC)}, Size: 2})
}

func skipping(f *fixture) {
	f.keep(numbered(5)...)
	f.catchUp()
	middle := f.now()[2].Place()
	for _, skip := range []int64{0, 1, 2, 3, 4, 5, 6, math.MaxInt32, 1 << 32, 1<<32 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		for _, filter := range []lead.Filter{{}, enrichedAs(lead.None), {Since: middle.UpdatedAt}, enrichedAs(lead.Deep)} {
			f.check(lead.Query{Filter: filter, Skip: skip, Size: 2})
			f.check(lead.Query{Filter: filter, Skip: skip, Size: 2, After: middle})
			f.check(lead.Query{Filter: filter, Skip: skip, Size: 2, Uncounted: true})
		}
	}
}

func changing(f *fixture) {
	f.keep(newLead("a"), newLead("b"), newLead("c", func(l *lead.Lead) { l.Campaigns, l.Rating = campaigns[:2], 300 }))
	f.catchUp()
	f.keep(newLead("a", func(l *lead.Lead) { l.Enrichment = lead.Deep }))
	f.catchUp()
	if got := f.walk(lead.Query{Size: 2}); got[2] != "cmp_a" {
		f.Fatal(got)
	}
	f.keep(newLead("c", func(l *lead.Lead) { l.Campaigns, l.Rating = campaigns[1:3], 200 }))
	f.keep(newLead("b"), newLead("b", named("twice")), newLead("a"))
	f.catchUp()
	bound := lead.Rating(250)
	for _, filter := range []lead.Filter{
		{}, enrichedAs(lead.None), enrichedAs(lead.Deep), inCampaign(campaigns[0]), inCampaign(campaigns[2]), {MinRating: &bound},
	} {
		f.walk(lead.Query{Filter: filter, Size: 2})
	}
}

func pagingWhileLeadsChange(f *fixture) {
	const most, size = 40, 7
	f.keep(numbered(most)...)
	f.catchUp()
	came := map[id.Lead]int{}
	changed := map[id.Lead]bool{}
	query := lead.Query{Size: size}
	for page := f.check(query); ; page = f.check(query) {
		for _, one := range page.Leads {
			came[one.Place.ID]++
		}
		if !page.More {
			break
		}
		query.After = page.Leads[len(page.Leads)-1].Place
		if len(changed) == 0 {
			for _, i := range []int{0, size - 1, size, most / 2, most - 1} {
				one := numbered(most)[i]
				changed[one.ID] = true
				one.Name = "changed"
				f.keep(one)
			}
			f.remove("cmp_100003", "cmp_100030")
			f.catchUp()
		}
	}
	for i, one := range numbered(most) {
		want := 1
		switch {
		case changed[one.ID] && i < size:
			want = 2
		case i == 30:
			want = 0
		}
		if came[one.ID] != want {
			f.Fatalf("%s came %d times, want %d", one.ID, came[one.ID], want)
		}
	}
}

func ownTimestamps(f *fixture) {
	early := time.Date(2020, time.February, 29, 12, 0, 0, 0, time.UTC)
	f.keep(newLead("new"))
	f.catchUp()
	f.keep(newLead("m", at(early.Add(time.Second))), newLead("k", at(early)))
	f.catchUp()
	f.walk(lead.Query{Size: 1})
	f.keep(newLead("l", at(early)), newLead("n", at(early.Add(time.Minute))), newLead("a", at(early.Add(time.Second))))
	f.keep(newLead("k", at(early.Add(time.Hour))), newLead("new", at(early.Add(time.Second))))
	f.catchUp()
	f.walk(lead.Query{Size: 2})
	f.keep(newLead("newer"), newLead("j", at(early)))
	f.remove("cmp_l")
	f.catchUp()
	f.walk(lead.Query{Size: 2})
	f.check(lead.Query{
		Filter: lead.Filter{Since: early.Add(time.Second)}, Size: 2, After: lead.Place{UpdatedAt: early.Add(time.Second), ID: "cmp_b"},
	})
}

func removal(f *fixture) {
	f.keep(numbered(4, func(l *lead.Lead) { l.Campaigns = campaigns[:1] })...)
	f.catchUp()
	f.remove("cmp_100001", "cmp_unknown", "cmp_100001")
	f.catchUp()
	f.walk(lead.Query{Size: 2, Filter: inCampaign(campaigns[0])})
	f.keep(newLead("100001"))
	f.catchUp()
	f.walk(lead.Query{Size: 2})
	f.remove("cmp_100001")
	f.keep(newLead("100001", named("again")), newLead("fresh"))
	f.remove("cmp_fresh")
	f.catchUp()
	f.walk(lead.Query{Size: 2})
	f.remove("cmp_100000", "cmp_100001", "cmp_100002", "cmp_100003")
	f.catchUp()
	f.walk(lead.Query{Size: 2})
}

func otherChanges(f *fixture) {
	f.keep(numbered(2)...)
	f.catchUp()
	f.keep()
	f.catchUp()
	if page := f.check(lead.Query{Size: 2}); page.State.Revision != f.record.present {
		f.Fatalf("revision %d, not %d", page.State.Revision, f.record.present)
	}
}
