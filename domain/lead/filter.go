package lead

import (
	"slices"
	"time"

	"holdco/domain/id"
)

// Filter says which leads are wanted: those to which all of it applies. The zero value wants every lead.
type Filter struct {
	Campaign   id.Campaign // in this campaign; empty: whatever campaign
	Industry   id.Industry
	Vertical   id.Vertical
	HasWebsite *bool      // nil: with and without
	MinRating  *Rating    // at least this, 0 to MostRating; leads without a rating never are
	Enrichment Enrichment // exactly this; empty: whatever depth
	Since      time.Time  // updated at or after this instant; zero: whenever
}

// Match reports whether the lead is wanted.
func (f Filter) Match(l Lead) bool {
	return (f.Campaign == "" || slices.Contains(l.Campaigns, f.Campaign)) &&
		(f.Industry == "" || f.Industry == l.Industry) &&
		(f.Vertical == "" || f.Vertical == l.Vertical) &&
		(f.HasWebsite == nil || *f.HasWebsite == (l.Website != "")) &&
		(f.MinRating == nil || l.Rating != Unrated && l.Rating >= *f.MinRating) &&
		(f.Enrichment == "" || f.Enrichment == l.Enrichment) &&
		(f.Since.IsZero() || !l.UpdatedAt.Before(f.Since))
}
