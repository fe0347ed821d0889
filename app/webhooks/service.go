package webhooks

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Webhooks.
type Service struct {
	store   store.Store
	ids     outbound.IDs
	entropy outbound.Entropy
	vault   outbound.Vault
}

var _ inbound.Webhooks = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs, entropy outbound.Entropy, vault outbound.Vault) *Service {
	return &Service{store: s, ids: ids, entropy: entropy, vault: vault}
}

// List returns a page of all endpoints.
func (s *Service) List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[webhook.Endpoint], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[webhook.Endpoint]{}, err
	}
	return s.store.Webhooks().List(ctx, after, size)
}

// Get returns one endpoint.
func (s *Service) Get(ctx context.Context, caller access.Caller, which id.Webhook) (webhook.Endpoint, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return webhook.Endpoint{}, err
	}
	return s.store.Webhooks().Get(ctx, which)
}
