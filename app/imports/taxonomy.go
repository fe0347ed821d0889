package imports

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// Taxonomy merges a draft into the taxonomy, or reports what that would change.
func (s *Service) Taxonomy(ctx context.Context, caller access.Caller, draft lead.TaxonomyDraft, dryRun bool) (lead.Change, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return lead.Change{}, err
	}
	stored, err := s.store.Taxonomy().Get(ctx)
	if err != nil {
		return lead.Change{}, err
	}
	_, change, err := draft.Over(stored, s.clock.Now())
	if err != nil || dryRun || !change.Any() {
		return change, err
	}
	_, err = s.update(ctx, func(ctx context.Context, tx store.Tx) error {
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		stored, err := tx.Taxonomy().Get(ctx)
		if err != nil {
			return err
		}
		var next lead.Taxonomy
		if next, change, err = draft.Over(stored, at); err != nil {
			return err
		}
		if !change.Any() {
			return errNothing
		}
		if err := tx.Taxonomy().Keep(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, change.Imported(event.TaxonomyImported).By(caller.Actor))
	})
	if err != nil {
		return lead.Change{}, err // change is what the unit would have changed
	}
	return change, nil
}
