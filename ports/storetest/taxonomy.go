package storetest

import (
	"context"
	"time"

	"holdco/domain/lead"
	"holdco/ports/store"
)

var taxonomyRules = []rule{
	{"a taxonomy reads back as it was kept, each list in the order of its ids", taxonomyReadsBack},
	{"keep replaces what has an id that is there, and nothing goes", taxonomyKeep},
	{"the state has the revision in which the taxonomy changed last", taxonomyState},
}

func (f *fixture) keepTaxonomy(t lead.Taxonomy) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		return tx.Taxonomy().Keep(ctx, t)
	})
}

func (f *fixture) taxonomyIs(want lead.Taxonomy) {
	f.Helper()
	got, err := f.store.Taxonomy().Get(f.ctx)
	f.ok(err)
	f.same(got, want)
}

func (f *fixture) newTaxonomy() lead.Taxonomy {
	at := f.clock.Now()
	return lead.Taxonomy{
		Industries: []lead.Industry{{ID: "ind_A", Name: `It's "Ä"`, Slug: "a", Active: true}, {ID: "ind_a", Name: "🦆 %_\\", Slug: "b"}},
		Verticals: []lead.Vertical{
			{ID: "vrt_-", Industry: "ind_A", Name: "One", Slug: "one"},
			{ID: "vrt_0", Industry: "ind_a", Name: "Two", Slug: "two", Active: true},
		},
		Geographies: []lead.Geography{
			{ID: "geo_1", Name: "Germany", Slug: "germany", CountryCode: "DE"}, {ID: "geo_2", Name: "World", Slug: "world"},
		},
		Intelligence: []lead.Intelligence{
			{
				ID: "vin_1", Vertical: "vrt_-", Summary: "Long\nand \"quoted\" <&>", PainPoints: []string{"ä", "'"},
				BuyingSignals: []string{"[]"}, UpdatedAt: at,
			},
			{ID: "vin_2", Vertical: "vrt_-", UpdatedAt: at.Add(time.Hour)},
		},
	}
}

func taxonomyReadsBack(f *fixture) {
	f.taxonomyIs(lead.Taxonomy{})
	want := f.newTaxonomy()
	f.keepTaxonomy(want)
	f.taxonomyIs(want)
	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		got, err := r.Taxonomy().Get(ctx)
		f.same(got, want)
		return err
	}))
}

func taxonomyKeep(f *fixture) {
	want := f.newTaxonomy()
	f.keepTaxonomy(want)
	want.Industries[0].Name, want.Industries[0].Active = "New", false
	want.Verticals[1].Slug, want.Verticals[1].Active = "new", false
	want.Geographies[0].CountryCode = ""
	want.Intelligence[0].PainPoints, want.Intelligence[0].UpdatedAt = nil, f.clock.Now().Add(time.Minute)
	f.keepTaxonomy(lead.Taxonomy{
		Industries:   append(want.Industries[:1:1], lead.Industry{ID: "ind_b", Name: "B", Slug: "b"}),
		Verticals:    want.Verticals[1:],
		Geographies:  want.Geographies[:1],
		Intelligence: want.Intelligence[:1],
	})
	want.Industries = append(want.Industries, lead.Industry{ID: "ind_b", Name: "B", Slug: "b"})
	f.taxonomyIs(want)
}

func taxonomyState(f *fixture) {
	f.keepTaxonomy(f.newTaxonomy())
	f.leadStateIs(lead.State{Revision: 1, Taxonomy: 1, ChangedAt: f.clock.Now()})
	kept := f.imports(leadCalled("some"))
	f.leadStateIs(lead.State{Revision: 2, Taxonomy: 1, ChangedAt: kept[0].UpdatedAt})
	f.clock.Advance(time.Minute)
	f.keepTaxonomy(f.newTaxonomy())
	f.leadStateIs(lead.State{Revision: 3, Taxonomy: 3, ChangedAt: f.clock.Now()})
}
