package partners

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/partner"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Create admits a partner, with a key of its own.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, draft partner.Draft, once idempotency.Request,
) (inbound.IssuedPartner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedPartner{}, err
	}
	defer s.invalidate()
	newID, key := id.New[id.Partner](s.ids.UUIDv7()), access.NewPartnerKey(s.entropy.Bits256())
	return store.UpdateOnce(ctx, s.store, once, "", func(ctx context.Context, tx store.Tx) (inbound.IssuedPartner, error) {
		made, created, err := partner.New(newID, draft, key, tx.Now())
		if err != nil {
			return inbound.IssuedPartner{}, err
		}
		if err := tx.Partners().Add(ctx, made); err != nil {
			return inbound.IssuedPartner{}, err
		}
		return inbound.IssuedPartner{Partner: made, Key: key}, tx.Record(ctx, created.By(caller.Actor))
	})
}
