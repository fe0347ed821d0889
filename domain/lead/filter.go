package lead

import (
	"slices"
	"time"

	"holdco/domain/id"
)

// Filter selects the leads that meet all of its conditions. The zero value selects every lead.
type Filter struct {
	Campaign   id.Campaign // in this campaign; empty: any
	Industry   id.Industry
	Vertical   id.Vertical
	HasWebsite *bool      // nil: with and without
	MinRating  *Rating    // at least this, 0 to MostRating; never met without a rating
	Enrichment Enrichment // exactly this; empty: any
	Since      time.Time  // updated at or after this instant; zero: any time
}

// Match reports whether the filter selects the lead.
func (f Filter) Match(l Lead) bool {
	return (f.Campaign == "" || slices.Contains(l.Campaigns, f.Campaign)) &&
		(f.Industry == "" || f.Industry == l.Industry) &&
		(f.Vertical == "" || f.Vertical == l.Vertical) &&
		(f.HasWebsite == nil || *f.HasWebsite == (l.Website != "")) &&
		(f.MinRating == nil || l.Rating != Unrated && l.Rating >= *f.MinRating) &&
		(f.Enrichment == "" || f.Enrichment == l.Enrichment) &&
		(f.Since.IsZero() || !l.UpdatedAt.Before(f.Since))
}
