package storetest

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// The steps of a history that concern webhooks, partners and leads.

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

func (h *history) admit() step {
	joining := h.newPartner()
	h.partners = append(h.partners, joining.ID)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		m.partners[joining.ID] = joining
		return admitting(joining)(ctx, tx)
	}
}

func (h *history) rekey() step {
	which, key := pick(h, "partner", h.partners), h.newKey().Hash()
	return func(ctx context.Context, tx store.Tx, m *model) error {
		locked, err := tx.Partners().Lock(ctx, which)
		want, ok := m.partners[which]
		if !ok {
			return h.expect(err, fault.NotFound)
		}
		if err := h.expect(err, ""); err != nil {
			return err
		}
		h.same(locked, want)
		locked.OldHash, locked.OldUntil, locked.Hash = locked.Hash, tx.Now().Add(time.Hour), key
		locked.Version++
		m.partners[which] = locked
		tx.Unrecorded()
		return tx.Partners().Save(ctx, locked)
	}
}

func (h *history) touchPartner() step {
	which, at := pick(h, "partner", h.partners), h.clock.Now().Add(time.Duration(h.upTo("later", 5))*time.Millisecond)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		if used, ok := m.partners[which]; ok && at.After(used.LastUsedAt) {
			used.LastUsedAt = at
			m.partners[which] = used
		}
		return tx.Partners().Touch(ctx, map[id.Partner]time.Time{which: at})
	}
}

// drawLeads draws the ids of a few leads of this history, each once.
func (h *history) drawLeads() []id.Lead {
	some := rapid.SliceOfNDistinct(rapid.IntRange(0, 5), 1, 4, rapid.ID[int]).Draw(h.draw, "leads")
	ids := make([]id.Lead, len(some))
	for i, n := range some {
		ids[i] = id.Lead(fmt.Sprintf("cmp_h%d-%d", h.number, n))
		h.leads[ids[i]] = true
	}
	return ids
}

// advance begins the change of leads of a unit, unless a step before did.
func (m *model) advance(ctx context.Context, tx store.Tx) (err error) {
	tx.Unrecorded()
	if m.advanced.IsZero() {
		m.advanced, err = tx.Leads().Advance(ctx)
	}
	return err
}

func (h *history) importLeads() step {
	ids := h.drawLeads()
	batch := make([]lead.Incoming, len(ids))
	for i, which := range ids {
		one := leadCalled("", func(l *lead.Lead) {
			l.ID, l.Name = which, rapid.SampledFrom([]string{"A", "B", "Ärger '?"}).Draw(h.draw, "name")
			l.Rating = lead.Rating(h.upTo("rating", 2))
		})
		batch[i] = one.Incoming()
	}
	return func(ctx context.Context, tx store.Tx, m *model) error {
		if err := m.advance(ctx, tx); err != nil {
			return err
		}
		stored, err := tx.Leads().Summaries(ctx, ids)
		if err != nil {
			return err
		}
		for _, which := range ids {
			if want, ok := m.leads[which]; ok {
				h.same(stored[which], summaryOf(want))
			} else {
				h.same(stored[which].ID, id.Lead(""))
			}
		}
		changed := lead.Merge(batch, stored, m.advanced).Changed
		for _, kept := range changed {
			m.leads[kept.ID] = kept
		}
		return tx.Leads().Keep(ctx, changed)
	}
}

func (h *history) removeLeads() step {
	ids := h.drawLeads()
	return func(ctx context.Context, tx store.Tx, m *model) error {
		if err := m.advance(ctx, tx); err != nil {
			return err
		}
		removed, err := tx.Leads().Remove(ctx, ids, m.advanced)
		if err != nil {
			return err
		}
		var want []lead.Summary
		for _, which := range ids {
			if kept, ok := m.leads[which]; ok {
				want = append(want, summaryOf(kept))
				delete(m.leads, which)
			}
		}
		h.same(removed, want)
		return nil
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

func (h *history) comparePartners(ctx context.Context, r store.Reader) {
	for _, which := range h.partners {
		got, err := r.Partners().Get(ctx, which)
		want, ok := h.kept.partners[which]
		if !ok {
			h.code(err, fault.NotFound)
			continue
		}
		h.ok(err)
		h.same(got, want)
		for _, hash := range []string{want.Hash, want.OldHash} {
			if hash != "" {
				got, err := r.Partners().ByHash(ctx, hash)
				h.ok(err)
				h.same(got, want)
			}
		}
	}
}

func (h *history) compareLeads(ctx context.Context, r store.Reader) {
	for which := range h.leads {
		got, err := r.Leads().Get(ctx, which)
		want, ok := h.kept.leads[which]
		if !ok {
			h.code(err, fault.NotFound)
			continue
		}
		h.ok(err)
		h.same(got, exportedOf(want))
	}
}
