package searchtest

import (
	"math"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// histories draws changes, and pages in between. All histories share one subject; each begins without leads.
func histories(f *fixture) {
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		own.removeAll()
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			own.drawChange(t)
			if rapid.IntRange(0, 3).Draw(t, "lag") > 0 {
				own.catchUp()
			}
			for range rapid.IntRange(0, 6).Draw(t, "pages") {
				own.check(drawQuery(t, own.now()))
			}
		}
		f.seen = own.seen
	})
}

func (f *fixture) removeAll() {
	var all []id.Lead
	for _, one := range f.now() {
		all = append(all, one.ID)
	}
	f.remove(all...)
}

func (f *fixture) drawChange(t *rapid.T) {
	kinds := []string{"keep", "keep", "keep", "own timestamps", "remove", "rename", "move", "move", "other"}
	switch rapid.SampledFrom(kinds).Draw(t, "change") {
	case "keep":
		f.keep(rapid.SliceOfN(rapid.Custom(drawLead), 1, 25).Draw(t, "leads")...)
	case "own timestamps":
		leads := rapid.SliceOfN(rapid.Custom(drawLead), 1, 25).Draw(t, "leads")
		for i := range leads {
			at(drawInstant(t, f.now()).Truncate(time.Millisecond))(&leads[i])
		}
		f.keep(leads...)
	case "remove":
		f.remove(rapid.SliceOfN(rapid.Custom(drawID), 1, 20).Draw(t, "ids")...)
	case "rename":
		f.rename(rapid.SampledFrom(industries).Draw(t, "industry"), rapid.SampledFrom([]string{"One", "Two"}).Draw(t, "name"))
	case "move":
		for range rapid.IntRange(1, 3).Draw(t, "moves") {
			f.move(rapid.SampledFrom(campaigns).Draw(t, "campaign"), rapid.SampledFrom(append(industries, "")).Draw(t, "to"))
		}
	default:
		f.keep()
	}
}

func drawID(t *rapid.T) id.Lead {
	return id.Lead("cmp_" + rapid.StringOfN(rapid.RuneFrom([]rune("aB_")), 1, 3, -1).Draw(t, "id"))
}

func drawLead(t *rapid.T) lead.Lead {
	one := lead.Lead{
		ID:         drawID(t),
		Name:       rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "name"),
		Website:    rapid.SampledFrom([]string{"", "example.com", "https://www.example.com/a", "example.org"}).Draw(t, "website"),
		Email:      rapid.SampledFrom([]string{"", "a@example.com", "A@Example.com", "b@example.com"}).Draw(t, "address"),
		Rating:     lead.Rating(rapid.IntRange(int(lead.Unrated), int(lead.MostRating)).Draw(t, "rating")),
		Enrichment: rapid.SampledFrom(lead.Enrichments()).Draw(t, "enrichment"),
		Industry:   rapid.SampledFrom(append(industries, "")).Draw(t, "industry"),
	}
	if one.Industry != "" {
		one.Vertical = rapid.SampledFrom(append(verticals[one.Industry], "")).Draw(t, "vertical")
	}
	for _, campaign := range []id.Campaign{"cam_autumn", "cam_spring", "cam_spring2"} {
		if rapid.Bool().Draw(t, "member") {
			one.Campaigns = append(one.Campaigns, campaign)
		}
	}
	return one
}

// drawInstant draws one that leads have, or one near it.
func drawInstant(t *rapid.T, leads []lead.Stored) time.Time {
	instant := time.Date(2020, time.February, 29, 12, 0, 0, 0, time.UTC)
	if len(leads) > 0 && rapid.Bool().Draw(t, "of a lead") {
		if one := rapid.SampledFrom(leads).Draw(t, "lead"); rapid.Bool().Draw(t, "created") {
			instant = one.CreatedAt
		} else {
			instant = one.UpdatedAt
		}
	}
	return instant.Add(time.Duration(rapid.IntRange(-2, 1).Draw(t, "before")) * time.Millisecond / 2)
}

func drawQuery(t *rapid.T, leads []lead.Stored) lead.Query {
	query := lead.Query{
		Filter:    drawFilter(t, leads),
		Size:      rapid.SampledFrom([]int{1, 2, 7, 1000}).Draw(t, "size"),
		Uncounted: rapid.Bool().Draw(t, "uncounted"),
	}
	if rapid.Bool().Draw(t, "after") {
		query.After = lead.Place{UpdatedAt: drawInstant(t, leads).Truncate(time.Millisecond), ID: drawID(t)}
	}
	if rapid.Bool().Draw(t, "skip") {
		query.Skip = rapid.OneOf(rapid.Int64Range(0, 30), rapid.Just(int64(math.MaxInt64))).Draw(t, "passed over")
	}
	return query
}

func drawFilter(t *rapid.T, leads []lead.Stored) lead.Filter {
	var filter lead.Filter
	wanted := func(what string) bool { return rapid.IntRange(0, 4).Draw(t, what) == 0 }
	if wanted("by campaign") {
		filter.Campaigns = drawSome(t, "campaigns", append(campaigns, "cam_unknown"))
	}
	if wanted("by industry") {
		filter.Industries = drawSome(t, "industries", append(industries, "ind_unknown"))
	}
	if wanted("by vertical") {
		filter.Verticals = drawSome(t, "verticals", []id.Vertical{"vrt_bread", "vrt_wine", "vrt_saws", "vrt_unknown"})
	}
	if wanted("by website") {
		has := rapid.Bool().Draw(t, "website")
		filter.HasWebsite = &has
	}
	if wanted("by least rating") {
		filter.MinRating = drawBound(t)
	}
	if wanted("by most rating") {
		filter.MaxRating = drawBound(t)
	}
	if wanted("by enrichment") {
		filter.Enrichments = drawSome(t, "enrichments", lead.Enrichments())
	}
	if wanted("since") {
		filter.Since = drawInstant(t, leads)
	}
	if wanted("updated before") {
		filter.UpdatedBefore = drawInstant(t, leads)
	}
	if wanted("created before") {
		filter.CreatedBefore = drawInstant(t, leads)
	}
	if wanted("by domain") {
		filter.Domain = rapid.SampledFrom([]string{"example.com", "example.org", "example.net"}).Draw(t, "domain")
	}
	if wanted("by address") {
		filter.Email = rapid.SampledFrom([]string{"a@example.com", "b@example.com"}).Draw(t, "address")
	}
	if wanted("by id") {
		filter.IDs = rapid.SliceOfN(rapid.Custom(drawID), 1, 20).Draw(t, "ids")
	}
	if wanted("of some campaigns alone") {
		filter.View.Campaigns = drawSome(t, "shown campaigns", campaigns)
	}
	if wanted("of some industries alone") {
		filter.View.Industries = drawSome(t, "shown industries", industries)
	}
	return filter
}

// drawSome draws a list, in which a value can be twice.
func drawSome[T any](t *rapid.T, what string, from []T) []T {
	return rapid.SliceOfN(rapid.SampledFrom(from), 1, 3).Draw(t, what)
}

func drawBound(t *rapid.T) *lead.Rating {
	bound := lead.Rating(rapid.IntRange(0, int(lead.MostRating)).Draw(t, "rating"))
	return &bound
}
