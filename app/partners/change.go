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
	return s.change(ctx, caller, which, match, func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error) {
		return p.Apply(patch, at)
	})
}

// Revoke ends a key.
func (s *Service) Revoke(
	ctx context.Context, caller access.Caller, which id.Partner, match precondition.Match,
) (partner.Partner, error) {
	return s.change(ctx, caller, which, match, func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error) {
		next, revoked := p.Revoke(at)
		return next, revoked, nil
	})
}

// change makes a move of a partner, unless it is not the one that the client has seen.
func (s *Service) change(
	ctx context.Context, caller access.Caller, which id.Partner, match precondition.Match,
	move func(p partner.Partner, at time.Time) (partner.Partner, *event.Event, error),
) (partner.Partner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return partner.Partner{}, err
	}
	defer s.invalidate()
	var next partner.Partner
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		current, err := tx.Partners().Lock(ctx, which)
		if err != nil {
			return err
		}
		if err := match.Check(current.Version); err != nil {
			return err
		}
		var happened *event.Event
		if next, happened, err = move(current, tx.Now()); err != nil || happened == nil {
			return err
		}
		if err := tx.Partners().Save(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By(caller.Actor))
	})
	return next, err
}

// Rotate gives a key a new value.
func (s *Service) Rotate(
	ctx context.Context, caller access.Caller, which id.Partner, grace time.Duration, once idempotency.Request,
) (inbound.IssuedPartner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedPartner{}, err
	}
	defer s.invalidate()
	key := access.NewPartnerKey(s.entropy.Bits256())
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (inbound.IssuedPartner, error) {
		current, err := tx.Partners().Lock(ctx, which)
		if err != nil {
			return inbound.IssuedPartner{}, err
		}
		next, rotated, err := current.Rotate(key, grace, tx.Now())
		if err != nil {
			return inbound.IssuedPartner{}, err
		}
		if err := tx.Partners().Save(ctx, next); err != nil {
			return inbound.IssuedPartner{}, err
		}
		return inbound.IssuedPartner{Partner: next, Key: key}, tx.Record(ctx, rotated.By(caller.Actor))
	})
}
