package lead

import (
	"cmp"
	"time"

	"holdco/domain/id"
)

// Lead is a company outside. It is made by Draft.Lead; its texts are UTF-8.
type Lead struct {
	ID         id.Lead
	Name       string // 1 to NameLength characters
	Phone      string // of the texts below, an empty one is none
	Email      string
	Website    string
	Rating     Rating
	Enrichment Enrichment
	Social     Social
	Industry   id.Industry // empty: none
	Vertical   id.Vertical // empty: none; otherwise one of Industry
	Contacts   []Contact
	Campaigns  []id.Campaign // in the order of their ids, each once
	CreatedAt  time.Time
	UpdatedAt  time.Time // moves when a field above changes, not when a name in the taxonomy does
}

// Social are the addresses of a lead's pages in social networks; an empty one is none.
type Social struct{ Instagram, Facebook, LinkedIn, Twitter, TikTok string }

// Contact is a person at a lead.
type Contact struct {
	ID      id.Contact
	Name    string
	Title   string
	Email   string
	Primary bool
}

// Rating is a Google rating in hundredths, 0 to MostRating, or Unrated.
type Rating int16

// The bounds of a rating.
const (
	Unrated    Rating = -1
	MostRating Rating = 500
)

// Enrichment tells how much was found out about a lead.
type Enrichment string

// The depths of enrichment.
const (
	None     Enrichment = "none"
	Basic    Enrichment = "basic"
	Standard Enrichment = "standard"
	Deep     Enrichment = "deep"
)

// Enrichments are all of them, from the shallowest to the deepest.
func Enrichments() []Enrichment { return []Enrichment{None, Basic, Standard, Deep} }

// Place is where a lead stands in the order of the export: by UpdatedAt, and by id among those of one instant. Whoever
// keeps the last place that it saw has seen all that was there before it, for what changes moves to the end. The zero
// value is the place before all leads.
type Place struct {
	UpdatedAt time.Time
	ID        id.Lead
}

// Place returns where the lead stands.
func (l Lead) Place() Place { return Place{l.UpdatedAt, l.ID} }

// Compare tells which of two places comes first, as cmp.Compare does.
func (p Place) Compare(other Place) int {
	return cmp.Or(p.UpdatedAt.Compare(other.UpdatedAt), cmp.Compare(p.ID, other.ID))
}
