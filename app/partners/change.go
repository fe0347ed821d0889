package partners

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/partner"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Update merges a patch into a partner.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, which id.Partner, patch partner.Patch, match precondition.Match,
) (partner.Partner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return partner.Partner{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match}
	return s.change(ctx, request, which, func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error) {
		return p.Apply(patch, at)
	})
}

// Revoke ends a key for good.
func (s *Service) Revoke(
	ctx context.Context, caller access.Caller, which id.Partner, match precondition.Match,
) (partner.Partner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return partner.Partner{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match}
	return s.change(ctx, request, which, func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error) {
		next, revoked := p.Revoke(at)
		return next, revoked, nil
	})
}

// Rotate gives a key a new value.
func (s *Service) Rotate(
	ctx context.Context, caller access.Caller, which id.Partner, rotation access.Rotation,
	match precondition.Match, once idempotency.Request,
) (inbound.IssuedPartner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedPartner{}, err
	}
	var key access.Value
	random := s.entropy.Bits256()
	request := store.Request{Actor: caller.Actor, Match: match, Once: once}
	rotated, err := s.change(ctx, request, which, func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error) {
		key = p.NewKey(random)
		next, happened, err := p.Rotate(key, rotation, at)
		return next, &happened, err
	})
	return inbound.IssuedPartner{Partner: rotated, Key: key}, err
}

// change updates one partner and invalidates the caches.
func (s *Service) change(
	ctx context.Context, request store.Request, which id.Partner,
	move func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error),
) (partner.Partner, error) {
	defer s.invalidate()
	return store.Change(ctx, s.store, request, which, store.Tx.Partners, move)
}
