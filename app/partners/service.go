package partners

import (
	"context"

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
	known   store.Known[partner.Partner] // by the hashes of the values that were shown
	origins store.Known[[]string]        // of all live keys, under allOrigins
	used    store.LastUses[id.Partner]
}

var (
	_ inbound.Partners             = (*Service)(nil)
	_ inbound.PartnerAuthenticator = (*Service)(nil)
)

// New makes the service.
func New(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy) *Service {
	return &Service{store: s, clock: clock, ids: ids, entropy: entropy}
}

// List shows a page of all partners.
func (s *Service) List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[partner.Partner], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[partner.Partner]{}, err
	}
	return s.store.Partners().List(ctx, after, size)
}

// Get shows one partner.
func (s *Service) Get(ctx context.Context, caller access.Caller, which id.Partner) (partner.Partner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return partner.Partner{}, err
	}
	return s.store.Partners().Get(ctx, which)
}

// forget is called when a change of a partner has ended, however it ended.
func (s *Service) forget() {
	s.known.Forget()
	s.origins.Forget()
}
