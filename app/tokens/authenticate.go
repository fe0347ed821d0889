package tokens

import (
	"context"
	"time"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/ports/store"
)

// Authenticate returns the caller that a token stands for. A value with a wrong checksum is refused without a read of
// the store, and a value looked up a moment ago is cached.
func (s *Service) Authenticate(ctx context.Context, text string) (access.Caller, error) {
	value, wellFormed := access.ParseAPIToken(text)
	now := s.clock.Now()
	token, err := cache.Authenticate(ctx, &s.cached, s.store.Tokens, "token", value, wellFormed, now)
	if err != nil {
		return access.Caller{}, err
	}
	s.used.Note(token.ID, now)
	return token.Caller(), nil
}

// FlushLastUses writes when tokens were last used, which Authenticate only buffers.
func (s *Service) FlushLastUses(ctx context.Context) (more bool, err error) {
	return false, s.used.Flush(func(used map[id.Token]time.Time) error {
		return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return tx.Tokens().Touch(ctx, used) })
	})
}
