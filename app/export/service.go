package export

import (
	"context"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Export.
type Service struct {
	from   Source
	search store.LeadSearch
	clock  outbound.Clock
	cache  taxonomyCache
	watch  watch

	campaigns campaignCache
}

var _ inbound.Export = (*Service)(nil)

// New returns the use cases on a store. search is the store's own, or a faster index.
func New(s store.Store, search store.LeadSearch, clock outbound.Clock) *Service {
	return &Service{from: stored{storedReader{s}, s}, search: search, clock: clock}
}

// State returns the current revision.
func (s *Service) State(ctx context.Context) (lead.State, error) { return s.from.Leads().State(ctx) }

// Leads returns a page of leads.
func (s *Service) Leads(ctx context.Context, query lead.Query) (found inbound.LeadsPage, err error) {
	found.Names, err = s.seen(ctx, query.Filter, func(filter lead.Filter) (_ lead.State, err error) {
		asked := query
		asked.Filter = filter
		found.Page, err = s.search.Search(ctx, asked)
		return found.State, err
	})
	if err != nil {
		return inbound.LeadsPage{}, err
	}
	return found, nil
}

// Lead reads one lead and the names of its taxonomy from one snapshot.
func (s *Service) Lead(ctx context.Context, view lead.View, which id.Lead) (shown inbound.LeadShown, err error) {
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		if shown.Exported, err = shownLead(ctx, r, view, which); err != nil {
			return err
		}
		state, err := r.Leads().State(ctx)
		if err != nil {
			return err
		}
		shown.Names, err = s.names(ctx, r, view, state)
		return err
	})
	return shown, err
}

// shownLead reads a lead that a view shows.
func shownLead(ctx context.Context, r Reader, view lead.View, which id.Lead) (lead.Exported, error) {
	if view.IsAll() {
		return r.Leads().Get(ctx, which)
	}
	query := lead.Query{Filter: lead.Filter{IDs: []id.Lead{which}, View: view}, Size: 1, Uncounted: true}
	page, err := r.Leads().Search(ctx, query)
	if err == nil && len(page.Leads) == 0 {
		err = lead.ErrMissing
	}
	if err != nil {
		return lead.Exported{}, err
	}
	return page.Leads[0], nil
}

// ResumeFrom returns the place from which a stream that ended after a lead continues, even if that lead was removed
// meanwhile.
func (s *Service) ResumeFrom(ctx context.Context, view lead.View, which id.Lead) (place lead.Place, err error) {
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		exported, err := shownLead(ctx, r, view, which)
		if fault.CodeOf(err) == fault.NotFound {
			place, err = r.Leads().RemovedPlace(ctx, view, which)
			return err
		}
		place = exported.ResumeFrom(s.clock.Now())
		return err
	})
	return place, err
}

// Removed returns a page of the leads that were removed.
func (s *Service) Removed(ctx context.Context, query lead.RemovedQuery) (found lead.RemovedPage, err error) {
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		found, err = r.Leads().Removed(ctx, query)
		return err
	})
	return found, err
}

// Campaigns returns a page of campaigns.
func (s *Service) Campaigns(ctx context.Context, query lead.CampaignQuery) (found inbound.CampaignsPage, err error) {
	if len(query.Filter.View.Industries) > 0 {
		return s.countedCampaigns(ctx, query)
	}
	return s.campaignsPage(ctx, query)
}

// campaignsPage returns a page of campaigns as they are kept, with all leads that they have.
func (s *Service) campaignsPage(ctx context.Context, query lead.CampaignQuery) (found inbound.CampaignsPage, err error) {
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		if found.CampaignPage, err = r.Campaigns().Search(ctx, query); err != nil {
			return err
		}
		taxonomy, err := s.cache.at(ctx, r, found.State)
		found.Names = taxonomy.names
		return err
	})
	return found, err
}

// Taxonomy returns the active part of the taxonomy.
func (s *Service) Taxonomy(ctx context.Context, view lead.View) (lead.Taxonomy, error) {
	state, err := s.State(ctx)
	if err != nil {
		return lead.Taxonomy{}, err
	}
	taxonomy, err := s.taxonomyAt(ctx, state)
	return view.Of(taxonomy.active), err
}

// taxonomyAt is taxonomyCache.at outside of a view: it opens one only to fill the cache.
func (s *Service) taxonomyAt(ctx context.Context, least lead.State) (found taxonomy, err error) {
	if found, ok := s.cache.cached(least); ok {
		return found, nil
	}
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		found, err = s.cache.at(ctx, r, least)
		return err
	})
	return found, err
}
