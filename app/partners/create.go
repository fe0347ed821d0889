package partners

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/partner"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Create makes a partner and its key.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, draft partner.Draft, once idempotency.Request,
) (inbound.IssuedPartner, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.IssuedPartner{}, err
	}
	defer s.invalidate()
	newID, key := id.New[id.Partner](s.ids.UUIDv7()), draft.NewKey(s.entropy.Bits256())
	request := store.Request{Actor: caller.Actor, Once: once}
	made, err := store.Create(ctx, s.store, request, store.Tx.Partners,
		func(_ context.Context, tx store.Tx) (partner.Partner, event.Event, error) {
			return partner.New(newID, draft, key, tx.Now())
		})
	return inbound.IssuedPartner{Partner: made, Key: key}, err
}
