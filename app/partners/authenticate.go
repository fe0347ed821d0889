package partners

import (
	"context"
	"slices"

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
	return cache.Authenticate(ctx, &s.cached, s.store.Partners, "key", key, wellFormed, s.clock.Now())
}

// Used notes in memory what a key was used for.
func (s *Service) Used(which id.Partner, requests, leadsRead int64) {
	s.used.note(which, partner.Usage{LastUsedAt: s.clock.Now(), Requests: requests, LeadsRead: leadsRead})
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

// FlushUsage writes what keys were used for, which Used only notes.
func (s *Service) FlushUsage(ctx context.Context) (more bool, err error) {
	return false, s.used.flush(func(used map[id.Partner]partner.Usage) error {
		return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return tx.Partners().Use(ctx, used) })
	})
}
