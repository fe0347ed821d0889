package storetest

import (
	"context"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// The steps of a history that concern webhooks.

func (h *history) connect() step {
	endpoint := h.newEndpoint()
	endpoint.Enabled = h.upTo("enabled", 1) == 1
	h.endpoints = append(h.endpoints, endpoint.ID)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		m.endpoints[endpoint.ID] = endpoint
		return connecting(endpoint)(ctx, tx)
	}
}

func (h *history) reconnect() step {
	which, enabled := pick(h, "endpoint", h.endpoints), h.upTo("enabled", 1) == 1
	description := rapid.SampledFrom(texts).Draw(h.draw, "description")
	return func(ctx context.Context, tx store.Tx, m *model) error {
		locked, err := tx.Webhooks().Lock(ctx, which)
		want, ok := m.endpoints[which]
		if !ok {
			return h.expect(err, fault.NotFound)
		}
		if err := h.expect(err, ""); err != nil {
			return err
		}
		h.same(locked, want)
		locked.Enabled, locked.Description, locked.Version = enabled, description, locked.Version+1
		m.endpoints[which] = locked
		tx.Unrecorded()
		return tx.Webhooks().Save(ctx, locked)
	}
}

func (h *history) disconnect() step {
	which := pick(h, "endpoint", h.endpoints)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		if _, ok := m.endpoints[which]; !ok {
			return nil
		}
		delete(m.endpoints, which)
		delete(m.deliveries, which)
		return disconnecting(which)(ctx, tx)
	}
}

func (h *history) sendTo() step {
	which := pick(h, "endpoint", h.endpoints)
	delivery := h.newDelivery(which, tried(h.upTo("tries", 2)))
	return func(ctx context.Context, tx store.Tx, m *model) error {
		if _, ok := m.endpoints[which]; !ok {
			return nil
		}
		m.deliveries[which] = append([]webhook.Delivery{delivery}, m.deliveries[which]...)
		return sending(delivery)(ctx, tx)
	}
}

func (h *history) compareEndpoints(ctx context.Context, r store.Reader, size int) {
	for _, which := range h.endpoints {
		got, err := r.Webhooks().Get(ctx, which)
		want, ok := h.kept.endpoints[which]
		if !ok {
			h.code(err, fault.NotFound)
			continue
		}
		h.ok(err)
		h.same(got, want)
		h.same(walk(h.fixture, size, func(after page.Position) (page.Page[webhook.Delivery], error) {
			return r.Deliveries().List(ctx, store.DeliveryFilter{Endpoint: which}, after, size)
		}), h.kept.deliveries[which])
	}
}
