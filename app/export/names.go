package export

import (
	"context"
	"slices"
	"sync/atomic"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// campaigns are the industries that campaigns have.
type campaigns struct {
	state      lead.State // they were read at this state, or a later one
	industries map[id.Campaign]id.Industry
}

// campaignCache caches the last that were read.
type campaignCache struct{ last atomic.Pointer[campaigns] }

// at returns those of a state or a newer one. So an answer of an older revision may show less than there was, or more than the view
// showed then; but never what the view does not show any more.
func (c *campaignCache) at(ctx context.Context, r Reader, least lead.State) (campaigns, error) {
	if cached, ok := c.cached(least); ok {
		return cached, nil
	}
	state, err := r.Leads().State(ctx)
	if err != nil {
		return campaigns{}, err
	}
	industries, err := r.Campaigns().Industries(ctx)
	if err != nil {
		return campaigns{}, err
	}
	fresh := campaigns{state, industries}
	c.last.Store(&fresh)
	return fresh, nil
}

func (c *campaignCache) cached(least lead.State) (campaigns, bool) {
	last := c.last.Load()
	if last == nil || last.state.Revision < least.Revision || wasReplaced(last.state, least) {
		return campaigns{}, false
	}
	return *last, true
}

// names returns the names that a view is shown leads with, of a state or a newer one; of the zero state, of any. A view of industries needs
// to know the campaigns.
func (s *Service) names(ctx context.Context, r Reader, view lead.View, least lead.State) (lead.Names, error) {
	taxonomy, err := s.cache.at(ctx, r, least)
	if err != nil || len(view.Industries) == 0 {
		return taxonomy.names, err
	}
	known, err := s.campaigns.at(ctx, r, least)
	return taxonomy.names.WithCampaigns(known.industries), err
}

// namesAt is names outside of a view of the source: it opens one only to fill the caches.
func (s *Service) namesAt(ctx context.Context, view lead.View, least lead.State) (names lead.Names, err error) {
	taxonomy, ok := s.cache.cached(least)
	if ok && len(view.Industries) == 0 {
		return taxonomy.names, nil
	}
	if known, isKnown := s.campaigns.cached(least); ok && isKnown {
		return taxonomy.names.WithCampaigns(known.industries), nil
	}
	err = s.from.View(ctx, func(ctx context.Context, r Reader) error {
		names, err = s.names(ctx, r, view, least)
		return err
	})
	return names, err
}

// seen lets find look for what a filter selects that names no campaign but those that its view shows, and returns the names of what was
// found. It looks again if meanwhile the view shows others of them.
func (s *Service) seen(
	ctx context.Context, filter lead.Filter, find func(lead.Filter) (lead.State, error),
) (names lead.Names, err error) {
	if len(filter.Campaigns) > 0 && len(filter.View.Industries) > 0 {
		if names, err = s.namesAt(ctx, filter.View, lead.State{}); err != nil {
			return names, err
		}
	}
	for {
		asked := filter.Seen(names)
		state, err := find(asked)
		if err != nil {
			return names, err
		}
		if names, err = s.namesAt(ctx, filter.View, state); err != nil || slices.Equal(asked.Campaigns, filter.Seen(names).Campaigns) {
			return names, err
		}
	}
}
