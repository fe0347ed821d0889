package partners

import (
	"context"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/id"
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
}

var (
	_ inbound.Partners             = (*Service)(nil)
	_ inbound.PartnerAuthenticator = (*Service)(nil)
)

// New returns the use cases with empty caches.
func New(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy) *Service {
	return &Service{store: s, clock: clock, ids: ids, entropy: entropy}
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

// invalidate empties the caches. It is called after every change of a partner, even a failed one.
func (s *Service) invalidate() {
	s.cached.Invalidate()
	s.origins.Invalidate()
}
