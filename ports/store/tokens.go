package store

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/id"
)

// TokenReader reads tokens.
type TokenReader interface {
	Getter[id.Token, access.Token]
	Lister[access.Token]

	// ByHash returns the token that has or had a value with this hash (access.Value.Hash), or fault.NotFound.
	// access.Token.Accepts decides whether the value is still valid.
	ByHash(ctx context.Context, hash string) (access.Token, error)

	// HasLiveAdmin reports whether a token with the scope admin is neither revoked nor expired at the given instant.
	HasLiveAdmin(ctx context.Context, at time.Time) (bool, error)
}

// Tokens reads and changes tokens.
type Tokens interface {
	TokenReader
	Repository[id.Token, access.Token] // Save does not change LastUsedAt

	// LockAll keeps every other unit from adding or changing tokens until this one ends.
	LockAll(ctx context.Context) error

	// Touch moves LastUsedAt of each token forward to the given instant, never back; tokens that do not exist are
	// skipped. It needs no event.
	Touch(ctx context.Context, used map[id.Token]time.Time) error
}
