package store

import (
	"context"
	"errors"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// LeadSearch finds leads. A store answers from its tables; an index may answer instead, with identical results.
type LeadSearch interface {
	// Search returns a page of the leads that the filter matches, in the order of lead.Place.Compare, with the exact
	// total, all as of one revision.
	Search(ctx context.Context, query lead.Query) (lead.Page, error)
}

// LeadReader reads leads.
type LeadReader interface {
	LeadSearch

	// State returns the revision of leads, campaigns and the taxonomy.
	State(ctx context.Context) (lead.State, error)

	// Get returns a lead, or fault.NotFound.
	Get(ctx context.Context, which id.Lead) (lead.Exported, error)

	// Keyed returns the leads with these keys, at most MostKeyed, in any order; those that do not exist are left out.
	Keyed(ctx context.Context, keys []int64) ([]KeyedLead, error)

	// KeyedSizes returns how many bytes the leads with these keys take, at most MostKeyed; those that do not exist are left out.
	// It does not read the leads.
	KeyedSizes(ctx context.Context, keys []int64) (map[int64]int64, error)

	// Last returns the place of the last lead, or the zero place if there are no leads.
	Last(ctx context.Context) (lead.Place, error)

	// Marks returns what an index has to know of the leads after one place, up to another, at most size of them, in the
	// order of lead.Place.Compare. The cost depends on how many leads it returns, not on how many there are.
	Marks(ctx context.Context, after, upTo lead.Place, size int) ([]LeadMark, error)

	// Changes returns the last change of each lead whose last change comes after a cursor, at most size of them, in the
	// order of their cursors. The cost depends on how many changes it returns.
	Changes(ctx context.Context, after ChangeCursor, size int) ([]LeadChange, error)

	// Feed returns a page of the feed: see lead.FeedChange. The cost depends on the size of the page, not on how many leads there are:
	// what is passed over for a reader who began with nothing is bounded, and the page then has fewer changes, and more. It fails with
	// ErrFeedLost when the feed does not go on from the position.
	Feed(ctx context.Context, query lead.FeedQuery) (lead.FeedPage, error)

	// FeedSince returns a position from which a reader is told of all changes that were made at or after an instant; and perhaps of some
	// that were made before it, up to FeedStep. It fails with ErrFeedLost when removals since are pruned.
	FeedSince(ctx context.Context, since time.Time) (lead.FeedPosition, error)

	// CanFollow fails with ErrFeedLost when the feed does not go on from a position.
	CanFollow(ctx context.Context, from lead.FeedPosition) error

	// Summaries returns what is kept of the leads with these ids; of those that were removed, the instant in their RemovedPlace
	// as lead.Summary.UpdatedAt and nothing else.
	Summaries(ctx context.Context, ids []id.Lead) (map[id.Lead]lead.Summary, error)

	// Contents returns the leads with these ids, with their campaigns; those that do not exist are left out.
	Contents(ctx context.Context, ids []id.Lead) (map[id.Lead]lead.Lead, error)

	// Suppressions returns all suppressions, in the order in which they were made.
	Suppressions(ctx context.Context) ([]lead.Suppression, error)

	// SuppressionKey returns the key of their digests, sealed; it is empty until there was a suppression.
	SuppressionKey(ctx context.Context) (sealed string, err error)

	// Removed returns a page of the leads that were removed at or after an instant and have not come back: sorted by the instant
	// of their removal, and by id within one; with the exact total. A view shows those that it showed last. Of leads that were removed
	// by a program that knows no views it is not known what they were: a view that narrows shows none of them.
	Removed(ctx context.Context, query lead.RemovedQuery) (lead.RemovedPage, error)

	// RemovedPlace returns the place from which a stream resumes after a lead that was removed since: the place that the lead
	// had, or an earlier one, see lead.Exported.ResumeFrom. It returns fault.NotFound if no such removal is
	// known, or the view did not show the lead then.
	RemovedPlace(ctx context.Context, view lead.View, which id.Lead) (lead.Place, error)
}

// ErrFeedLost is that of a feed that does not go on from a position: lead.State.CanFollow.
var ErrFeedLost = errors.New("the feed of leads does not go on from this position")

// FeedStep is how far apart the instants are for which a store remembers a revision, while leads change.
const FeedStep = 10 * time.Minute

// MostKeyed is how many leads can be read by their keys at once.
const MostKeyed = 1000

// KeyedLead is a lead with its key: a number from 1 on that the store assigns to the lead for good, small enough to be the
// index of an array.
type KeyedLead struct {
	Key      int64
	Revision lead.Revision // at which it was last changed
	Exported lead.Exported
}

// LeadMark is what an index needs to know of a lead. Marks may share strings and slices.
type LeadMark struct {
	Key        int64
	Place      lead.Place
	CreatedAt  time.Time
	Campaigns  []id.Campaign
	Industry   id.Industry
	Vertical   id.Vertical
	HasWebsite bool
	Rating     lead.Rating
	Enrichment lead.Enrichment
	Domain     lead.Hash // of lead.DomainOf of the website
	Email      lead.Hash // of lead.EmailOf of the address
}

// ChangeCursor is the sort key of a change: changes are sorted by revision, and by key within one revision.
type ChangeCursor struct {
	Revision lead.Revision
	Key      int64
}

// LeadChange is the last change of a lead.
type LeadChange struct {
	Revision lead.Revision
	Removed  bool // the lead was removed: only the key of the mark is set
	LeadMark
}

// Cursor returns the cursor of the change.
func (c LeadChange) Cursor() ChangeCursor { return ChangeCursor{c.Revision, c.Key} }

// Leads reads and changes leads, campaigns and the taxonomy: one unit at a time, because each change raises the revision.
type Leads interface {
	LeadReader

	// Advance begins a change: it keeps every other unit from changing leads, campaigns and the taxonomy until this one
	// ends, raises the revision, and returns the instant of the change, lead.State.Next. Each method below needs it first,
	// and it is called once in a unit.
	Advance(ctx context.Context) (time.Time, error)

	// Restored is Advance after the store was restored: what had an instant after the last change, and before this one, is lost. See
	// lead.State.HasLost. It needs no event.
	Restored(ctx context.Context) error

	// Keep inserts or replaces leads, at most MostKept, each id once. They are sorted in the order of the export.
	Keep(ctx context.Context, leads []lead.Stored) error

	// Remove removes leads, and keeps their ids and the instant for Removed. It returns those that existed.
	Remove(ctx context.Context, ids []id.Lead, at time.Time) ([]lead.Summary, error)

	// KeepSuppressionKey keeps the sealed key of the digests of suppressions, which is not replaced.
	KeepSuppressionKey(ctx context.Context, sealed string) error

	// Suppress adds suppressions, but for those whose digests are those of another one, and moves lead.State.Suppressed if it adds any.
	// It returns how many it added.
	Suppress(ctx context.Context, added []lead.Suppression) (int, error)

	// Release removes suppressions, and moves lead.State.Suppressed. It returns how many existed.
	Release(ctx context.Context, ids []id.Suppression) (int, error)
}

// SuppressionKeyOwner is what the key of suppressions is sealed for.
const SuppressionKeyOwner = "leads"

// MostKept is how many leads can be kept at once.
const MostKept = 10_000

// CampaignReader reads campaigns.
type CampaignReader interface {
	// Get returns a campaign, or fault.NotFound.
	Get(ctx context.Context, which id.Campaign) (lead.Campaign, error)

	// Listed returns the campaigns with these ids, in no order; those that do not exist are left out.
	Listed(ctx context.Context, ids []id.Campaign) ([]lead.Campaign, error)

	// Search returns a page of the campaigns that the filter matches, by UpdatedAt and within one instant by id, with the
	// exact total.
	Search(ctx context.Context, query lead.CampaignQuery) (lead.CampaignPage, error)

	// IDs returns the ids of all campaigns.
	IDs(ctx context.Context) ([]id.Campaign, error)

	// Industries returns the industries of all campaigns that have one.
	Industries(ctx context.Context) (map[id.Campaign]id.Industry, error)
}

// Campaigns reads and changes campaigns. Changes need Leads.Advance first.
type Campaigns interface {
	CampaignReader

	// Keep inserts or replaces campaigns, each id once. It does not change their lead counts. The leads of one that gets another
	// industry come again in the feed for views of industries, which may show other campaigns of them from now on.
	Keep(ctx context.Context, campaigns []lead.Campaign) error

	// Count adds to lead counts.
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

	// Keep inserts or replaces all that differs from what is kept, and moves lead.State.Taxonomy. What is new, or has another name or
	// slug, is in the feed.
	Keep(ctx context.Context, t lead.Taxonomy) error
}
