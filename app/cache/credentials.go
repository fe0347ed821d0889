package cache

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
)

// credential is a token, or a partner with its key.
type credential interface {
	Accepts(hash string, at time.Time) bool
}

type credentialReader[T credential] interface {
	ByHash(ctx context.Context, hash string) (T, error)
}

// Authenticate looks up the credential that has a value, in the cache or else in the store, and reports whether there is
// one and it accepts the value now.
func Authenticate[T credential, R credentialReader[T]](
	ctx context.Context, cached *Cache[T], stored func() R, value access.Value, now time.Time,
) (found T, ok bool, err error) {
	hash := value.Hash()
	found, err = cached.Get(ctx, hash, now, func() (T, error) { return stored().ByHash(ctx, hash) })
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return found, false, nil
	case err != nil:
		return found, false, err
	}
	return found, found.Accepts(hash, now), nil
}
