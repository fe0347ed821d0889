package partners

import (
	"context"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Partners and inbound.PartnerAuthenticator.
type Service struct {
	store   store.Store
	clock   outbound.Clock
	ids     outbound.IDs
	entropy outbound.Entropy
	cached  cache.Cache[partner.Partner] // by the hashes of the values that were shown
	origins cache.Cache[[]string]        // of all live keys, under allOrigins
	used    usage
	sample  func() *lead.Sample
}

var (
	_ inbound.Partners             = (*Service)(nil)
	_ inbound.PartnerAuthenticator = (*Service)(nil)
)

// New returns the use cases with empty caches. sample is what test keys read; it is made when somebody wants to know what is in it.
func New(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy, sample func() *lead.Sample) *Service {
	return &Service{store: s, clock: clock, ids: ids, entropy: entropy, sample: sample}
}

// List returns a page of all partners.
func (s *Service) List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[partner.Partner], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[partner.Partner]{}, err
	}
	return s.store.Partners().List(ctx, after, size)
}

// Get returns one partner.
func (s *Service) Get(ctx context.Context, caller access.Caller, which id.Partner) (partner.Partner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return partner.Partner{}, err
	}
	return s.store.Partners().Get(ctx, which)
}

// Unknown implements inbound.Partners.
func (s *Service) Unknown(ctx context.Context, caller access.Caller, of partner.Partner) (unknown []string, err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return nil, err
	}
	switch {
	case len(of.View.Campaigns)+len(of.View.Industries) == 0:
		return nil, nil
	case of.Test:
		return s.sample().Unknown(of.View), nil
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		taxonomy, err := r.Taxonomy().Get(ctx)
		if err != nil {
			return err
		}
		campaigns, err := r.Campaigns().Listed(ctx, of.View.Campaigns)
		unknown = of.View.Unknown(taxonomy, campaigns)
		return err
	})
	return unknown, err
}

// invalidate empties the caches. It is called after every change of a partner, even a failed one.
func (s *Service) invalidate() {
	s.cached.Invalidate()
	s.origins.Invalidate()
}
