package partners

import (
	"context"
	"slices"
	"time"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/partner"
	"holdco/ports/store"
)

// Authenticate returns the partner of a key. A mistyped key, or one of another kind, is refused without a read of the
// store, and a key looked up a moment ago is cached.
func (s *Service) Authenticate(ctx context.Context, text string) (partner.Partner, error) {
	unauthorized := fault.New(fault.Unauthorized, "The key is missing, mistyped, unknown, expired or revoked.")
	key, ok := access.ParsePartnerKey(text)
	if !ok {
		return partner.Partner{}, unauthorized
	}
	now := s.clock.Now()
	found, ok, err := cache.Authenticate(ctx, &s.cached, s.store.Partners, key, now)
	switch {
	case err != nil:
		return partner.Partner{}, err
	case !ok:
		return partner.Partner{}, unauthorized
	}
	s.used.Note(found.ID, now)
	return found, nil
}

// allOrigins is the cache key of one list with the origins of all live keys. With a cache key for each origin, requests
// from many unknown origins would cause one read each.
const allOrigins = ""

// HasOrigin reports whether the origin is registered with any live key.
func (s *Service) HasOrigin(ctx context.Context, origin string) (bool, error) {
	now := s.clock.Now()
	origins, err := s.origins.Get(ctx, allOrigins, now, func() ([]string, error) { return s.store.Partners().Origins(ctx, now) })
	return slices.Contains(origins, origin), err
}

// FlushLastUses writes when keys were last used, which Authenticate only buffers.
func (s *Service) FlushLastUses(ctx context.Context) (more bool, err error) {
	return false, s.used.Flush(func(used map[id.Partner]time.Time) error {
		return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return tx.Partners().Touch(ctx, used) })
	})
}
