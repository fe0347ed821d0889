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

	// ByHash returns the token that has or had a value with this hash (access.Value.Hash), or fault.NotFound. Whether
	// the value still lets anybody in is for access.Token.Accepts to say.
	ByHash(ctx context.Context, hash string) (access.Token, error)

	// HasLiveAdmin reports whether a token with the scope admin is neither revoked nor expired at the given instant.
	HasLiveAdmin(ctx context.Context, at time.Time) (bool, error)
}

// Tokens reads and changes tokens.
type Tokens interface {
	TokenReader
	Repository[id.Token, access.Token] // Save leaves LastUsedAt alone

	// LockAll keeps every other unit from adding or changing tokens until this one ends.
	LockAll(ctx context.Context) error

	// Touch moves LastUsedAt of each token forward to the given instant, never back; tokens that are gone are passed
	// over. It is bookkeeping: no business change, no event.
	Touch(ctx context.Context, used map[id.Token]time.Time) error
}
