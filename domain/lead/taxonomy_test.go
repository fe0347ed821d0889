package lead_test

import (
	"fmt"
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

// intelligence is that of the vertical dental.
func intelligence() lead.Intelligence {
	return lead.Intelligence{
		ID: "vin_1", Vertical: dental, Summary: "Teeth.\n<b>", PainPoints: []string{"pain"}, BuyingSignals: []string{"new chairs"},
		UpdatedAt: noon.Add(-time.Hour),
	}
}

func TestWhatIsActive(t *testing.T) {
	t.Parallel()
	all := taxonomy
	all.Intelligence = []lead.Intelligence{intelligence(), {ID: "vin_2", Vertical: eyes}, {ID: "vin_3", Vertical: shops}}
	want := lead.Taxonomy{
		Industries:   all.Industries[:1],
		Verticals:    all.Verticals[:1], // eyes are inactive, and so is the industry of shops
		Geographies:  all.Geographies,
		Intelligence: all.Intelligence[:1],
	}
	if diff := cmp.Diff(want, all.Active()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(lead.Taxonomy{}, lead.Taxonomy{}.Active()); diff != "" {
		t.Error(diff)
	}
}

func TestTheTaxonomyIsShownInItsLists(t *testing.T) {
	t.Parallel()
	all := taxonomy
	all.Intelligence = []lead.Intelligence{intelligence(), {ID: "vin_2", Vertical: dental, UpdatedAt: noon}}
	got, err := all.Active().Fields().MarshalJSON()
	want := `{"industries":[{"id":"ind_health","name":"Health","slug":"health"}],` +
		`"verticals":[{"id":"vrt_dental","name":"Dental","slug":"dental","industry_id":"ind_health"}],"vertical_intelligence":[` +
		`{"id":"vin_1","vertical_id":"vrt_dental","summary":"Teeth.\n<b>","pain_points":["pain"],"buying_signals":["new chairs"],` +
		`"updated_at":"2026-04-11T11:00:00.000Z"},` +
		`{"id":"vin_2","vertical_id":"vrt_dental","summary":"","pain_points":[],"buying_signals":[],` +
		`"updated_at":"2026-04-11T12:00:00.000Z"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = lead.Taxonomy{}.Fields().MarshalJSON()
	if string(got) != `{"industries":[],"verticals":[],"vertical_intelligence":[]}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAnInactiveIndustryCanBeReferredTo(t *testing.T) {
	t.Parallel()
	want := lead.Catalog{
		Industries:  map[id.Industry]bool{health: true, trade: true},
		Verticals:   map[id.Vertical]id.Industry{dental: health, eyes: health, shops: trade},
		Geographies: map[id.Geography]bool{berlin: true},
		Campaigns:   map[id.Campaign]bool{spring: true, autumn: true},
	}
	if diff := cmp.Diff(want, catalog); diff != "" {
		t.Error(diff)
	}
}

func TestADraftIsLaidOverTheTaxonomy(t *testing.T) {
	t.Parallel()
	before := taxonomy
	before.Intelligence = []lead.Intelligence{intelligence()}
	next, change, err := lead.TaxonomyDraft{
		Industries: []lead.IndustryDraft{
			{ID: string(trade), Name: " Commerce ", Active: new(true)}, // differs
			{ID: "ind_art", Name: "Art & Crafts", Active: new(false)},  // new
			{ID: string(health), Name: "Health"},                       // the same
		},
		Verticals:   []lead.VerticalDraft{{ID: "vrt_oil", Industry: "ind_art", Name: "Oil", Slug: "oil-paint"}},
		Geographies: []lead.GeographyDraft{{ID: string(berlin), Name: "Berlin", CountryCode: " DE "}, {ID: "geo_a", Name: "A"}},
		Intelligence: []lead.IntelligenceDraft{
			{ID: "vin_2", Vertical: "vrt_oil", Summary: " lines\n and spaces ", PainPoints: []string{" drying "}},
			{ID: "vin_1", Vertical: string(dental), Summary: "Teeth.\n<b>", PainPoints: []string{"pain"},
				BuyingSignals: []string{"new chairs"}},
		},
	}.Over(before, noon)
	want := lead.Taxonomy{
		Industries: []lead.Industry{
			{ID: "ind_art", Name: "Art & Crafts", Slug: "art-crafts"}, before.Industries[0],
			{ID: trade, Name: "Commerce", Slug: "commerce", Active: true},
		},
		Verticals: []lead.Vertical{
			before.Verticals[0], before.Verticals[1], {ID: "vrt_oil", Industry: "ind_art", Name: "Oil", Slug: "oil-paint", Active: true},
			before.Verticals[2],
		},
		Geographies: []lead.Geography{{ID: "geo_a", Name: "A", Slug: "a"}, before.Geographies[0]},
		Intelligence: []lead.Intelligence{
			intelligence(),
			{ID: "vin_2", Vertical: "vrt_oil", Summary: " lines\n and spaces ", PainPoints: []string{"drying"},
				BuyingSignals: []string{}, UpdatedAt: noon},
		},
	}
	if diff := cmp.Diff(want, next); diff != "" || change != (lead.Change{Inserted: 4, Updated: 1, Unchanged: 3}) || err != nil {
		t.Error(diff, change, err)
	}
	if before.Industries[1].Name != "Trade & <Co>" {
		t.Error("the taxonomy before has changed too")
	}
}

func TestIntelligenceMovesWhenItDiffers(t *testing.T) {
	t.Parallel()
	same := lead.IntelligenceDraft{
		ID: "vin_1", Vertical: string(dental), Summary: "Teeth.\n<b>", PainPoints: []string{"pain"}, BuyingSignals: []string{"new chairs"},
	}
	for name, c := range map[string]struct {
		change func(*lead.IntelligenceDraft)
		moves  bool
	}{
		"nothing":         {change: func(*lead.IntelligenceDraft) {}},
		"spaces":          {change: func(i *lead.IntelligenceDraft) { i.PainPoints = []string{" pain "} }},
		"vertical":        {func(i *lead.IntelligenceDraft) { i.Vertical = string(eyes) }, true},
		"summary":         {func(i *lead.IntelligenceDraft) { i.Summary = "" }, true},
		"pain points":     {func(i *lead.IntelligenceDraft) { i.PainPoints = nil }, true},
		"buying signals":  {func(i *lead.IntelligenceDraft) { i.BuyingSignals = []string{"new chairs", "new chairs"} }, true},
		"order of points": {func(i *lead.IntelligenceDraft) { i.PainPoints = []string{"cost", "pain"} }, true},
	} {
		before := taxonomy
		before.Intelligence = []lead.Intelligence{intelligence()}
		draft := same
		c.change(&draft)
		next, change, err := lead.TaxonomyDraft{Intelligence: []lead.IntelligenceDraft{draft}}.Over(before, noon)
		if err != nil || change.Any() != c.moves || next.Intelligence[0].UpdatedAt.Equal(noon) != c.moves {
			t.Errorf("%s: %+v, %+v, %v", name, change, next.Intelligence, err)
		}
	}

	empty := lead.Taxonomy{Verticals: taxonomy.Verticals, Intelligence: []lead.Intelligence{{ID: "vin_1", Vertical: dental}}}
	draft := lead.IntelligenceDraft{ID: "vin_1", Vertical: string(dental), PainPoints: []string{}}
	if _, change, err := (lead.TaxonomyDraft{Intelligence: []lead.IntelligenceDraft{draft}}).Over(empty, noon); change.Any() || err != nil {
		t.Errorf("no list and an empty one differ: %+v, %v", change, err)
	}
}

func TestADraftOfTheTaxonomyReportsAllThatIsWrongAndChangesNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 10_001)
	draft := lead.TaxonomyDraft{
		Industries: []lead.IndustryDraft{
			{}, {ID: "health", Name: "a\x00", Slug: "No Slug"}, {ID: "ind_new", Name: "New"}, {ID: "ind_new", Name: "Newer"},
			{ID: string(health), Name: "Health"}, {ID: string(health), Name: "Health"},
		},
		Verticals: []lead.VerticalDraft{
			{}, {ID: "vrt_a", Name: "A", Industry: "ind_none"}, {ID: string(dental), Name: "Dental", Industry: string(trade)},
			{ID: "vrt_b", Name: strings.Repeat("é", 201), Industry: "ind_new"}, {ID: "ind_c", Name: "C", Industry: "vrt_c"},
		},
		Geographies: []lead.GeographyDraft{{}, {ID: "geo_a", Name: "A", CountryCode: "de"}, {ID: "geo_b", Name: "B", CountryCode: "DEU"},
			{ID: "geo_c", Name: "C", CountryCode: "ÄÖ"}},
		Intelligence: []lead.IntelligenceDraft{
			{}, {ID: "vin_1", Vertical: "vrt_none", Summary: long, PainPoints: []string{"a", " ", strings.Repeat("é", 501)}},
			{ID: "vin_2", Vertical: "vrt_b", Summary: "a\x00", PainPoints: make([]string, 101), BuyingSignals: []string{"a\nb"}},
			{ID: "vin_2", Vertical: "vrt_a"},
		},
		Problems: fault.Problems{fault.Fieldf("colors", fault.UnknownField, "no")},
	}
	want := map[string]string{
		"colors":          fault.UnknownField,
		"industries.0.id": fault.Required, "industries.0.name": fault.Required,
		"industries.1.id": fault.InvalidFormat, "industries.1.name": fault.InvalidCharacters, "industries.1.slug": fault.InvalidFormat,
		"industries.3.id": fault.Duplicate, "industries.5.id": fault.Duplicate,
		"verticals.0.id": fault.Required, "verticals.0.name": fault.Required, "verticals.0.industry_id": fault.Required,
		"verticals.1.industry_id": fault.UnknownValue, "verticals.2.industry_id": fault.Immutable, "verticals.3.name": fault.TooLong,
		"verticals.4.id": fault.InvalidFormat, "verticals.4.industry_id": fault.InvalidFormat,
		"geographies.0.id": fault.Required, "geographies.0.name": fault.Required, "geographies.1.country_code": fault.InvalidFormat,
		"geographies.2.country_code": fault.InvalidFormat, "geographies.3.country_code": fault.InvalidFormat,
		"vertical_intelligence.0.id": fault.Required, "vertical_intelligence.0.vertical_id": fault.Required,
		"vertical_intelligence.1.vertical_id": fault.UnknownValue, "vertical_intelligence.1.summary": fault.TooLong,
		"vertical_intelligence.1.pain_points.1": fault.Required, "vertical_intelligence.1.pain_points.2": fault.TooLong,
		"vertical_intelligence.2.summary": fault.InvalidCharacters, "vertical_intelligence.2.pain_points": fault.TooMany,
		"vertical_intelligence.2.buying_signals.0": fault.InvalidCharacters, "vertical_intelligence.3.id": fault.Duplicate,
	}
	next, change, err := draft.Over(taxonomy, noon)
	if diff := cmp.Diff(want, codes(err)); diff != "" || fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(diff, err)
	}
	if diff := cmp.Diff(taxonomy, next); diff != "" || change != (lead.Change{}) {
		t.Error(diff, change)
	}
	for _, field := range fault.Of(err).Fields {
		if field.Message == "" || strings.Contains(field.Message, "%!") {
			t.Errorf("%+v", field)
		}
	}
}

func TestTheTaxonomyStaysInOrderAndTheSameAgain(t *testing.T) {
	t.Parallel()
	number := rapid.IntRange(0, 9)
	rapid.Check(t, func(t *rapid.T) {
		var all lead.Taxonomy
		kept := map[id.Industry]string{}
		for range rapid.IntRange(1, 3).Draw(t, "imports") {
			var draft lead.TaxonomyDraft
			var want lead.Change
			for _, n := range rapid.SliceOfDistinct(number, func(n int) int { return n }).Draw(t, "industries") {
				sent := lead.IndustryDraft{ID: fmt.Sprint("ind_", n), Name: fmt.Sprint("Industry ", rapid.IntRange(0, 1).Draw(t, "name"))}
				draft.Industries = append(draft.Industries, sent)
				draft.Verticals = append(draft.Verticals, lead.VerticalDraft{ID: fmt.Sprint("vrt_", n), Industry: sent.ID, Name: "V"})
				draft.Intelligence = append(draft.Intelligence,
					lead.IntelligenceDraft{ID: fmt.Sprint("vin_", n), Vertical: fmt.Sprint("vrt_", n)})
				switch before, stands := kept[id.Industry(sent.ID)]; {
				case !stands:
					want.Inserted += 3
				case before == sent.Name:
					want.Unchanged += 3
				default:
					want.Updated++
					want.Unchanged += 2
				}
				kept[id.Industry(sent.ID)] = sent.Name
			}
			next, change, err := draft.Over(all, noon)
			if err != nil || change != want {
				t.Fatalf("%+v, %v; want %+v", change, err, want)
			}
			again, unchanged, err := draft.Over(next, noon.Add(time.Hour))
			if diff := cmp.Diff(next, again); diff != "" || unchanged.Any() || err != nil {
				t.Fatal(diff, unchanged, err)
			}
			all = next
		}
		if len(all.Industries) != len(kept) || len(all.Verticals) != len(kept) || len(all.Intelligence) != len(kept) {
			t.Fatalf("%+v; want %v", all, kept)
		}
		if !slices.IsSortedFunc(all.Industries, func(a, b lead.Industry) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
			t.Fatalf("%+v", all.Industries)
		}
		for _, industry := range all.Industries {
			if industry.Name != kept[industry.ID] {
				t.Fatalf("%+v; want %s", industry, kept[industry.ID])
			}
		}
	})
}
