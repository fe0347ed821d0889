package export

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// countedCampaigns returns a page of campaigns for a view of some industries: of the leads that a campaign has, the view shows those of
// these industries alone, so they are counted anew, and what is asked of their number is asked of that.
//
// Unless something is asked of their number, those of the page alone are counted.
func (s *Service) countedCampaigns(ctx context.Context, query lead.CampaignQuery) (found inbound.CampaignsPage, err error) {
	if query.Filter.HasLeads == nil && query.Filter.MinLeads == 0 {
		if found, err = s.campaignsPage(ctx, query); err == nil {
			err = s.count(ctx, query.Filter.View, &found.CampaignPage)
		}
		return found, err
	}
	all, names, err := s.allCampaigns(ctx, query.Filter)
	if err == nil {
		err = s.count(ctx, query.Filter.View, &all)
	}
	return inbound.CampaignsPage{CampaignPage: query.Page(all.State, all.Campaigns), Names: names}, err
}

// count counts the leads of campaigns that a view shows. The page is of the oldest state then that anything in it is of, so that nobody
// takes it for one of a later revision.
func (s *Service) count(ctx context.Context, view lead.View, page *lead.CampaignPage) error {
	for i, one := range page.Campaigns {
		counted, err := s.search.Search(ctx, lead.Query{Filter: lead.Filter{Campaigns: []id.Campaign{one.ID}, View: view}})
		if err != nil {
			return err
		}
		if counted.State.Revision < page.State.Revision {
			page.State = counted.State
		}
		page.Campaigns[i].LeadCount = counted.Total
	}
	return nil
}

// allCampaigns returns all campaigns that a filter matches, however many leads they have.
func (s *Service) allCampaigns(ctx context.Context, filter lead.CampaignFilter) (all lead.CampaignPage, names lead.Names, err error) {
	filter.HasLeads, filter.MinLeads = nil, 0
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		query := lead.CampaignQuery{Filter: filter, Size: portionSize}
		for more := true; more; {
			page, err := r.Campaigns().Search(ctx, query)
			if err != nil {
				return err
			}
			all.State, all.Campaigns = page.State, append(all.Campaigns, page.Campaigns...)
			if more = page.More; more {
				query.After = page.Campaigns[len(page.Campaigns)-1].Place()
			}
		}
		taxonomy, err := s.cache.at(ctx, r, all.State)
		names = taxonomy.names
		return err
	})
	return all, names, err
}
