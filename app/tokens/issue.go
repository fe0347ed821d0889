package tokens

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Create issues a new token.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, draft access.TokenDraft, once idempotency.Request,
) (inbound.IssuedToken, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedToken{}, err
	}
	value := access.NewValue(s.entropy.Bits256())
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (inbound.IssuedToken, error) {
		return s.issue(ctx, tx, caller, draft, value)
	})
}

// issue makes a token with the given value and keeps it, in the caller's unit of work.
func (s *Service) issue(
	ctx context.Context, tx store.Tx, caller access.Caller, draft access.TokenDraft, value access.Value,
) (inbound.IssuedToken, error) {
	newID := id.New[id.Token](s.ids.UUIDv7())
	token, created, err := access.NewToken(newID, draft, value, resolveIn(ctx, tx.Companies()), tx.Now())
	if err != nil {
		return inbound.IssuedToken{}, err
	}
	if err := tx.Tokens().Add(ctx, token); err != nil {
		return inbound.IssuedToken{}, err
	}
	return inbound.IssuedToken{Token: token, Value: value}, tx.Record(ctx, created.By(caller.Actor))
}
