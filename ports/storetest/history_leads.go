package storetest

import (
	"context"
	"fmt"

	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// The steps of a history that concern leads.

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
