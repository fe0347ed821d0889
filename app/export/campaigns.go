package export

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// countedCampaigns returns a page of campaigns for a view of some industries: of the leads that a campaign has, the view shows those of
// these industries alone, so they are counted anew, and what is asked of their number is asked of that.
func (s *Service) countedCampaigns(ctx context.Context, query lead.CampaignQuery) (found inbound.CampaignsPage, err error) {
	all, names, err := s.allCampaigns(ctx, query.Filter)
	if err != nil {
		return found, err
	}
	oldest := all.State // so that nobody takes the page for one of a later revision
	for i, one := range all.Campaigns {
		counted, err := s.search.Search(ctx, lead.Query{
			Filter: lead.Filter{Campaigns: []id.Campaign{one.ID}, View: query.Filter.View}, Size: 1,
		})
		if err != nil {
			return found, err
		}
		if counted.State.Revision < oldest.Revision {
			oldest = counted.State
		}
		all.Campaigns[i].LeadCount = counted.Total
	}
	return inbound.CampaignsPage{CampaignPage: query.Page(oldest, all.Campaigns), Names: names}, nil
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
