package store

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
)

// TokenReader reads tokens.
type TokenReader interface {
	// Get returns a token, revoked and expired ones too, or fault.NotFound.
	Get(ctx context.Context, which id.Token) (access.Token, error)

	// ByHash returns the token that has or had a value with this hash (access.Value.Hash), or fault.NotFound. Whether
	// the value still lets anybody in is for access.Token.Accepts to say.
	ByHash(ctx context.Context, hash string) (access.Token, error)

	// List returns at most size tokens, revoked and expired ones too, from behind after on: newest first, and by
	// descending id within one instant.
	List(ctx context.Context, after page.Position, size int) (page.Page[access.Token], error)

	// HasLiveAdmin reports whether a token with the scope admin is neither revoked nor expired at the given instant.
	HasLiveAdmin(ctx context.Context, at time.Time) (bool, error)
}

// Tokens reads and changes tokens.
type Tokens interface {
	TokenReader

	// Lock is Get, and keeps every other unit from changing the token until this one ends.
	Lock(ctx context.Context, which id.Token) (access.Token, error)

	// LockAll keeps every other unit from adding or changing tokens until this one ends.
	LockAll(ctx context.Context) error

	// Add keeps a new token.
	Add(ctx context.Context, token access.Token) error

	// Save replaces a token that was locked in this unit. It leaves LastUsedAt alone.
	Save(ctx context.Context, token access.Token) error

	// Touch moves LastUsedAt of each token forward to the given instant, never back; tokens that are gone are passed
	// over. It is bookkeeping: no business change, no event.
	Touch(ctx context.Context, used map[id.Token]time.Time) error
}
