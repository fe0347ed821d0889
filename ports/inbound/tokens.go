package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
)

// Tokens are the use cases of tokens. All of them need Admin. An unknown id is fault.NotFound.
type Tokens interface {
	List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[access.Token], error)
	Get(ctx context.Context, caller access.Caller, which id.Token) (access.Token, error)

	// Create's faults are those of access.NewToken.
	Create(ctx context.Context, caller access.Caller, draft access.TokenDraft, once idempotency.Request) (IssuedToken, error)

	// Rotate gives a token a new value and accepts the old one for the grace of the rotation. The faults are
	// fault.PreconditionFailed and those of access.Token.Rotate.
	Rotate(
		ctx context.Context, caller access.Caller, which id.Token, rotation access.Rotation,
		match precondition.Match, once idempotency.Request,
	) (IssuedToken, error)

	// Revoke ends a token for good; it is idempotent. Its fault is fault.PreconditionFailed.
	Revoke(ctx context.Context, caller access.Caller, which id.Token, match precondition.Match) (access.Token, error)
}

// Authenticator authenticates callers by their tokens.
type Authenticator interface {
	// Authenticate returns the caller whose token has this value, or fault.Unauthorized.
	Authenticate(ctx context.Context, value string) (access.Caller, error)
}

// IssuedToken is a token with its value, which is shown only once.
type IssuedToken struct {
	Token access.Token
	Value access.Value
}
