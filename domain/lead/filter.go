package lead

import (
	"slices"
	"time"

	"holdco/domain/id"
)

// Filter selects the leads that meet all of its conditions. The zero value selects every lead. Lists name at most MostListed
// values, in any order and perhaps more than once; an empty one is no condition.
type Filter struct {
	IDs           []id.Lead     // one of these leads
	Domain        string        // whose website has this domain, as DomainOf returns it; empty: any or none
	Email         string        // whose own address is this, as EmailOf returns it; empty: any or none
	Campaigns     []id.Campaign // in one of these campaigns at least
	Industries    []id.Industry // in one of these
	Verticals     []id.Vertical
	Enrichments   []Enrichment
	HasWebsite    *bool     // nil: with and without
	MinRating     *Rating   // at least this, 0 to MostRating; never met without a rating
	MaxRating     *Rating   // at most this; never met without a rating either
	Since         time.Time // updated at or after this instant; zero: any time
	UpdatedBefore time.Time // updated before this instant, not at it; zero: any time
	CreatedBefore time.Time
	None          bool // whatever else is said, no lead is selected
	View          View // of who asks
}

// MostListed is how many values a list of a filter names at most.
const MostListed = 100

// Seen returns the filter without the campaigns that its view does not show: they are not there, so no lead is in them. The names know
// the campaigns.
func (f Filter) Seen(names Names) Filter {
	if len(f.Campaigns) == 0 || f.View.IsAll() {
		return f
	}
	f.Campaigns = kept(f.Campaigns, func(one id.Campaign) bool { return names.ShowsCampaign(f.View, one) })
	f.None = f.None || len(f.Campaigns) == 0
	return f
}

// Match reports whether the filter selects the lead.
func (f Filter) Match(l Lead) bool {
	return !f.None &&
		among(f.IDs, l.ID) &&
		(f.Domain == "" || f.Domain == DomainOf(l.Website)) &&
		(f.Email == "" || f.Email == EmailOf(l.Email)) &&
		anyAmong(f.Campaigns, l.Campaigns) &&
		among(f.Industries, l.Industry) &&
		among(f.Verticals, l.Vertical) &&
		among(f.Enrichments, l.Enrichment) &&
		(f.HasWebsite == nil || *f.HasWebsite == (l.Website != "")) &&
		(f.MinRating == nil || l.Rating != Unrated && l.Rating >= *f.MinRating) &&
		(f.MaxRating == nil || l.Rating != Unrated && l.Rating <= *f.MaxRating) &&
		(f.Since.IsZero() || !l.UpdatedAt.Before(f.Since)) &&
		(f.UpdatedBefore.IsZero() || l.UpdatedAt.Before(f.UpdatedBefore)) &&
		(f.CreatedBefore.IsZero() || l.CreatedAt.Before(f.CreatedBefore)) &&
		f.View.Shows(l.Industry, l.Campaigns)
}

// among reports whether a list that is a condition holds a value.
func among[T comparable](list []T, value T) bool {
	return len(list) == 0 || slices.Contains(list, value)
}

// anyAmong reports whether a list that is a condition holds one of the values at least.
func anyAmong[T comparable](list, values []T) bool {
	return len(list) == 0 || slices.ContainsFunc(values, func(value T) bool { return slices.Contains(list, value) })
}
