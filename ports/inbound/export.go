package inbound

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/partner"
)

// Exports are what the keys of partners read.
type Exports interface {
	// Of returns what the key of a partner reads: what is exported of the store, or for a test key a sample that is made up.
	Of(p partner.Partner) Export
}

// Export is what partners read. A view, of its own or of a filter, narrows it: what it does not show is not there.
type Export interface {
	// State returns the current revision. A page of leads may be of a slightly older one: each has its own State.
	State(ctx context.Context) (lead.State, error)

	// Leads returns a page of leads, and the names that they are shown with.
	Leads(ctx context.Context, query lead.Query) (LeadsPage, error)

	// Lead returns one lead, or fault.NotFound.
	Lead(ctx context.Context, view lead.View, which id.Lead) (LeadShown, error)

	// Stream calls take with all leads that the filter matches after a place, in portions, until there are no more. A
	// lead that changes meanwhile comes again at the end. An error of take ends the stream and is returned.
	Stream(ctx context.Context, filter lead.Filter, after lead.Place, take func(leads []lead.Exported, names lead.Names) error) error

	// ResumeFrom returns the place from which a stream that ended after a lead continues: see lead.Exported.ResumeFrom.
	// It fails with fault.NotFound unless the view shows the lead, or showed it when it was removed and that is still known.
	ResumeFrom(ctx context.Context, view lead.View, which id.Lead) (lead.Place, error)

	// Removed returns a page of the leads that were removed.
	Removed(ctx context.Context, query lead.RemovedQuery) (lead.RemovedPage, error)

	// Changes returns a page of the feed: see lead.FeedChange. If it has nothing to tell it waits for so long for something to come;
	// then, or when ctx ends, the page is empty. It fails with fault.InvalidCursor when the feed does not go on from the position.
	Changes(ctx context.Context, query lead.FeedQuery, wait time.Duration) (ChangesPage, error)

	// CanFollow fails with fault.InvalidCursor when the feed does not go on from a position.
	CanFollow(ctx context.Context, from lead.FeedPosition) error

	// StreamChanges calls take with pages of the feed until there are no more: with one at least. Their size is not that of the query.
	// It waits and fails as Changes does. An error of take ends the stream and is returned.
	StreamChanges(ctx context.Context, query lead.FeedQuery, wait time.Duration, take func(ChangesPage) error) error

	// ChangesSince returns a position from which the feed has all changes at or after an instant, and perhaps some before it, up to
	// store.FeedStep. It fails with fault.InvalidParameter when removals since are pruned.
	ChangesSince(ctx context.Context, since time.Time) (lead.FeedPosition, error)

	// Campaigns returns a page of campaigns, and the names that they are shown with.
	Campaigns(ctx context.Context, query lead.CampaignQuery) (CampaignsPage, error)

	// Taxonomy returns the active part of the taxonomy.
	Taxonomy(ctx context.Context, view lead.View) (lead.Taxonomy, error)
}

// LeadsPage is a page of leads.
type LeadsPage struct {
	lead.Page
	Names lead.Names
}

// ChangesPage is a page of the feed, and the names that its leads are shown with.
type ChangesPage struct {
	lead.FeedPage
	Names lead.Names
}

// LeadShown is one lead.
type LeadShown struct {
	lead.Exported
	Names lead.Names
}

// CampaignsPage is a page of campaigns.
type CampaignsPage struct {
	lead.CampaignPage
	Names lead.Names
}
