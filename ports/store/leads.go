package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// LeadSearch finds leads. A store answers from its tables; an index may answer in its stead, to the letter the same.
type LeadSearch interface {
	// Search returns a page of the leads that the filter matches, in the order of lead.Place.Compare, with the exact
	// total, all as of one revision.
	Search(ctx context.Context, query lead.Query) (lead.Page, error)
}

// LeadReader reads leads.
type LeadReader interface {
	LeadSearch

	// State tells the revision of leads, campaigns and the taxonomy.
	State(ctx context.Context) (lead.State, error)

	// Get returns a lead, or fault.NotFound.
	Get(ctx context.Context, which id.Lead) (lead.Exported, error)

	// Keyed returns the leads with these keys, at most MostKeyed, in any order; those that are gone are left out.
	Keyed(ctx context.Context, keys []int64) ([]KeyedLead, error)

	// Last returns the last place at which a lead stands, or the zero place when there are no leads.
	Last(ctx context.Context) (lead.Place, error)

	// Marks returns what an index has to know of the leads after one place, up to another, at most size of them, in the
	// order of lead.Place.Compare. It costs what these leads cost, however many there are before and after them.
	Marks(ctx context.Context, after, upTo lead.Place, size int) ([]LeadMark, error)

	// Changes returns the last change of each lead whose last change comes after a place, at most size of them, in the order
	// of their places. It costs what these changes cost.
	Changes(ctx context.Context, after ChangePlace, size int) ([]LeadChange, error)

	// Standing returns what is kept of the leads with these ids; of those that were removed, the instant in their RemovedPlace
	// as lead.Standing.UpdatedAt and nothing else.
	Standing(ctx context.Context, ids []id.Lead) (map[id.Lead]lead.Standing, error)

	// Removed returns a page of the leads that were removed at or after an instant and have not come back: by the instant
	// of their removal, and by id within one; with the exact total.
	Removed(ctx context.Context, query lead.RemovedQuery) (lead.RemovedPage, error)

	// RemovedPlace returns the place that a lead had before it was removed, the earliest one as in
	// lead.Exported.ResumeFrom, or fault.NotFound.
	RemovedPlace(ctx context.Context, which id.Lead) (lead.Place, error)
}

// MostKeyed is how many leads can be read by their keys at once.
const MostKeyed = 1000

// KeyedLead is a lead under its key: a number that a store gives a lead for as long as it is kept, from 1 on, and small
// enough to serve as an index of an array.
type KeyedLead struct {
	Key      int64
	Revision lead.Revision // at which it was kept last
	Entry    lead.Exported
}

// LeadMark is what an index has to know of a lead. Texts may be shared between marks.
type LeadMark struct {
	Key        int64
	Place      lead.Place
	Campaigns  []id.Campaign
	Industry   id.Industry
	Vertical   id.Vertical
	HasWebsite bool
	Rating     lead.Rating
	Enrichment lead.Enrichment
}

// ChangePlace is where a change stands in the order of changes: by revision, and by key within one revision.
type ChangePlace struct {
	Revision lead.Revision
	Key      int64
}

// LeadChange is the last change of a lead.
type LeadChange struct {
	Revision lead.Revision
	Removed  bool // the lead was removed: of the mark there is the key alone
	LeadMark
}

// Place returns where the change stands.
func (c LeadChange) Place() ChangePlace { return ChangePlace{c.Revision, c.Key} }

// Leads reads and changes leads, campaigns and the taxonomy: one after the other, for each change raises the revision.
type Leads interface {
	LeadReader

	// Advance begins a change: it keeps every other unit from changing leads, campaigns and the taxonomy until this one
	// ends, raises the revision, and returns the instant of the change, lead.State.Next. Each method below needs it first,
	// and it is called once in a unit.
	Advance(ctx context.Context) (time.Time, error)

	// Keep inserts or replaces leads, at most MostKept, each id once. They are in the order of the export.
	Keep(ctx context.Context, leads []lead.Kept) error

	// Remove removes leads for good, and remembers their ids and the instant for Removed. It returns those that were there.
	Remove(ctx context.Context, ids []id.Lead, at time.Time) ([]lead.Standing, error)
}

// MostKept is how many leads can be kept at once: as many as are written in 50 ms or a little more.
const MostKept = 2000

// CampaignReader reads campaigns.
type CampaignReader interface {
	// Get returns a campaign, or fault.NotFound.
	Get(ctx context.Context, which id.Campaign) (lead.Campaign, error)

	// Search returns a page of the campaigns that the filter matches, by UpdatedAt and within one instant by id, with the
	// exact total.
	Search(ctx context.Context, query lead.CampaignQuery) (lead.CampaignPage, error)

	// IDs returns the ids of all campaigns.
	IDs(ctx context.Context) ([]id.Campaign, error)
}

// Campaigns reads and changes campaigns. Changes need Leads.Advance first.
type Campaigns interface {
	CampaignReader

	// Keep inserts or replaces campaigns, each id once, but for their lead counts.
	Keep(ctx context.Context, campaigns []lead.Campaign) error

	// Count changes lead counts by so many.
	Count(ctx context.Context, by map[id.Campaign]int64) error
}

// TaxonomyReader reads the taxonomy.
type TaxonomyReader interface {
	// Get returns the whole taxonomy.
	Get(ctx context.Context) (lead.Taxonomy, error)
}

// Taxonomy reads and changes the taxonomy. Changes need Leads.Advance first.
type Taxonomy interface {
	TaxonomyReader

	// Keep inserts or replaces all that differs from what is kept, and moves lead.State.Taxonomy.
	Keep(ctx context.Context, t lead.Taxonomy) error
}
