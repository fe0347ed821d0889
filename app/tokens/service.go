package tokens

import (
	"context"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/text"
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

// resolveIn looks up the companies that scopes name by id or slug, within a unit of work.
func resolveIn(ctx context.Context, companies store.CompanyReader) access.Resolve {
	return func(name string) (id.Company, bool, error) {
		var found company.Company
		var err error
		switch which, isID := id.Parse[id.Company](name); {
		case isID:
			found, err = companies.Get(ctx, which)
		case text.IsSlug(name):
			found, err = companies.BySlug(ctx, name)
		default:
			return "", false, nil
		}
		if fault.CodeOf(err) == fault.NotFound {
			return "", false, nil
		}
		return found.ID, err == nil, err
	}
}
