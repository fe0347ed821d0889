package tokens

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Rotate gives a token a new value.
func (s *Service) Rotate(
	ctx context.Context, caller access.Caller, which id.Token, grace time.Duration, once idempotency.Request,
) (inbound.IssuedToken, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedToken{}, err
	}
	defer s.cached.Invalidate()
	value := access.NewValue(s.entropy.Bits256())
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (inbound.IssuedToken, error) {
		token, err := tx.Tokens().Lock(ctx, which)
		if err != nil {
			return inbound.IssuedToken{}, err
		}
		next, rotated, err := token.Rotate(value, grace, tx.Now())
		if err != nil {
			return inbound.IssuedToken{}, err
		}
		if err := tx.Tokens().Save(ctx, next); err != nil {
			return inbound.IssuedToken{}, err
		}
		return inbound.IssuedToken{Token: next, Value: value}, tx.Record(ctx, rotated.By(caller.Actor))
	})
}

// Revoke ends a token.
func (s *Service) Revoke(ctx context.Context, caller access.Caller, which id.Token) (access.Token, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return access.Token{}, err
	}
	defer s.cached.Invalidate()
	var next access.Token
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		token, err := tx.Tokens().Lock(ctx, which)
		if err != nil {
			return err
		}
		var happened *event.Event
		if next, happened = token.Revoke(tx.Now()); happened == nil {
			return nil
		}
		if err := tx.Tokens().Save(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By(caller.Actor))
	})
	return next, err
}
