package storetest

import (
	"context"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/partner"
	"holdco/ports/store"
)

// The steps of a history that concern partners.

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
		more := partner.Usage{LastUsedAt: at, Requests: 1, LeadsRead: 3}
		if used, ok := m.partners[which]; ok {
			used.Usage = used.Plus(more)
			m.partners[which] = used
		}
		return tx.Partners().Use(ctx, map[id.Partner]partner.Usage{which: more})
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
