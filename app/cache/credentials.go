package cache

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
)

// credential is a token, a partner with its key, or what an agent shows its token for.
type credential interface {
	Accepts(hash string, at time.Time) bool
}

type credentialReader[T credential] interface {
	ByHash(ctx context.Context, hash string) (T, error)
}

// Authenticate returns the credential that has a value, from the cache or else from the store, if it accepts the value now. A
// value that is not well formed, because it is mistyped or of another kind, is refused without a read of the store. The fault
// is fault.Unauthorized; noun is what it calls the value.
func Authenticate[T credential, R credentialReader[T]](
	ctx context.Context, cached *Cache[T], stored func() R, noun string, value access.Value, wellFormed bool, now time.Time,
) (found T, err error) {
	if !wellFormed {
		return found, access.Unauthorized(noun)
	}
	hash := value.Hash()
	found, err = cached.Get(ctx, hash, now, func() (T, error) { return stored().ByHash(ctx, hash) })
	if fault.CodeOf(err) == fault.NotFound || err == nil && !found.Accepts(hash, now) {
		var none T
		return none, access.Unauthorized(noun)
	}
	return found, err
}
