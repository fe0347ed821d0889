package lead

import (
	"cmp"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Lead is a company outside Holdco, made by Draft.Lead. Its texts are UTF-8.
type Lead struct {
	ID         id.Lead
	Name       string // 1 to NameLength characters
	Phone      string // this and the texts below: empty if unknown
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
	UpdatedAt  time.Time // of the last change of a field above; names in the taxonomy do not count
}

// Social are the URLs of a lead's pages in social networks; empty if unknown.
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

// Enrichment is how much was found out about a lead.
type Enrichment string

// The levels of enrichment.
const (
	None     Enrichment = "none"
	Basic    Enrichment = "basic"
	Standard Enrichment = "standard"
	Deep     Enrichment = "deep"
)

// Enrichments returns all levels, from the shallowest to the deepest.
func Enrichments() []Enrichment { return []Enrichment{None, Basic, Standard, Deep} }

// ErrMissing is the fault of a lead that is not there.
var ErrMissing = fault.New(fault.NotFound, "There is no such lead.")

// Place is where a lead stands in the order of the export: by UpdatedAt, then by id. A change moves a lead to the end,
// so a reader that stores the last place it saw has seen all leads before it. The zero value is before all leads.
type Place struct {
	UpdatedAt time.Time
	ID        id.Lead
}

// Place returns where the lead stands.
func (l Lead) Place() Place { return Place{l.UpdatedAt, l.ID} }

// Compare compares two places as cmp.Compare does.
func (p Place) Compare(other Place) int {
	return cmp.Or(p.UpdatedAt.Compare(other.UpdatedAt), cmp.Compare(p.ID, other.ID))
}
