package tokens

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/event"
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
	value := access.NewAPIToken(s.entropy.Bits256())
	newID := id.New[id.Token](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once}
	made, err := store.Create(ctx, s.store, request, store.Tx.Tokens,
		func(ctx context.Context, tx store.Tx) (access.Token, event.Event, error) {
			return access.NewToken(newID, draft, value, store.ResolveCompany(ctx, tx.Companies()), tx.Now())
		})
	return inbound.IssuedToken{Token: made, Value: value}, err
}
