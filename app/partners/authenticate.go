package partners

import (
	"context"
	"slices"
	"time"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/partner"
	"holdco/ports/store"
)

// Authenticate returns the partner of a key. A mistyped key, or one of another kind, is refused without a read of the
// store, and a key looked up a moment ago is cached.
func (s *Service) Authenticate(ctx context.Context, text string) (partner.Partner, error) {
	key, wellFormed := access.ParsePartnerKey(text)
	now := s.clock.Now()
	found, err := cache.Authenticate(ctx, &s.cached, s.store.Partners, "key", key, wellFormed, now)
	if err == nil {
		s.used.Note(found.ID, now)
	}
	return found, err
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
