package tokens

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Rotate gives a token a new value.
func (s *Service) Rotate(
	ctx context.Context, caller access.Caller, which id.Token, rotation access.Rotation,
	match precondition.Match, once idempotency.Request,
) (inbound.IssuedToken, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedToken{}, err
	}
	value := access.NewAPIToken(s.entropy.Bits256())
	request := store.Request{Actor: caller.Actor, Match: match, Once: once}
	rotated, err := s.change(ctx, request, which, func(t access.Token, at time.Time) (access.Token, *event.Event, error) {
		next, happened, err := t.Rotate(value, rotation, at)
		return next, &happened, err
	})
	return inbound.IssuedToken{Token: rotated, Value: value}, err
}

// Revoke ends a token for good.
func (s *Service) Revoke(
	ctx context.Context, caller access.Caller, which id.Token, match precondition.Match,
) (access.Token, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return access.Token{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match}
	return s.change(ctx, request, which, func(t access.Token, at time.Time) (access.Token, *event.Event, error) {
		next, revoked := t.Revoke(at)
		return next, revoked, nil
	})
}

// change updates one token and invalidates the cache.
func (s *Service) change(
	ctx context.Context, request store.Request, which id.Token,
	move func(t access.Token, at time.Time) (access.Token, *event.Event, error),
) (access.Token, error) {
	defer s.cached.Invalidate()
	return store.Change(ctx, s.store, request, which, store.Tx.Tokens, move)
}
