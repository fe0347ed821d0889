package inbound

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// Export is what partners read. Every live key reads all of it.
type Export interface {
	// State tells the revision of all that is kept. Pages of leads may belong to one from shortly before: each tells which.
	State(ctx context.Context) (lead.State, error)

	// Leads returns a page of leads, with the names to show them with.
	Leads(ctx context.Context, query lead.Query) (LeadsPage, error)

	// Lead returns one lead, or fault.NotFound.
	Lead(ctx context.Context, which id.Lead) (LeadShown, error)

	// Stream hands over all leads that the filter matches, from behind a place on, in portions, until there are no more:
	// what changes meanwhile comes again at the end. It ends with an error of take.
	Stream(ctx context.Context, filter lead.Filter, after lead.Place, take func(leads []lead.Exported, names lead.Names) error) error

	// ResumeFrom returns the place from which a stream goes on that broke off behind a lead: see lead.Exported.ResumeFrom. It
	// fails with fault.NotFound when there never was such a lead.
	ResumeFrom(ctx context.Context, which id.Lead) (lead.Place, error)

	// Removed returns a page of the leads that were removed.
	Removed(ctx context.Context, query lead.RemovedQuery) (lead.RemovedPage, error)

	// Campaigns returns a page of campaigns, with the names to show them with.
	Campaigns(ctx context.Context, query lead.CampaignQuery) (CampaignsPage, error)

	// Taxonomy returns what of the taxonomy is active.
	Taxonomy(ctx context.Context) (lead.Taxonomy, error)
}

// LeadsPage is a page of leads.
type LeadsPage struct {
	lead.Page
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
