package tokens

import (
	"context"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Tokens and inbound.Authenticator.
type Service struct {
	store   store.Store
	clock   outbound.Clock
	ids     outbound.IDs
	entropy outbound.Entropy
	cached  cache.Cache[access.Token] // by the hashes of the values that were shown
	used    cache.LastUses[id.Token]
}

var (
	_ inbound.Tokens        = (*Service)(nil)
	_ inbound.Authenticator = (*Service)(nil)
)

// New returns the use cases with an empty cache.
func New(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy) *Service {
	return &Service{store: s, clock: clock, ids: ids, entropy: entropy}
}

// List returns a page of all tokens.
func (s *Service) List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[access.Token], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[access.Token]{}, err
	}
	return s.store.Tokens().List(ctx, after, size)
}

// Get returns one token.
func (s *Service) Get(ctx context.Context, caller access.Caller, which id.Token) (access.Token, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return access.Token{}, err
	}
	return s.store.Tokens().Get(ctx, which)
}
