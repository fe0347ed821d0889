package imports

import (
	"context"
	"iter"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// RemoveLeads removes leads for good, in batches. Those removed before an error stay removed.
func (s *Service) RemoveLeads(
	ctx context.Context, caller access.Caller, ids iter.Seq2[id.Lead, error], forget bool,
) (removed int, err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return 0, err
	}
	pace, batch, list := usualPace, []id.Lead{}, &suppressionList{Service: s}
	remove := func() error {
		if ctx.Err() != nil || len(batch) == 0 {
			return ctx.Err()
		}
		gone, took, err := list.removeBatch(ctx, caller.Actor, batch, forget)
		removed += gone
		pace, batch = pace.after(len(batch), took), batch[:0]
		return err
	}
	for which, err := range ids {
		if err != nil {
			return removed, err
		}
		if batch = append(batch, which); len(batch) < pace.size {
			continue
		}
		if err := remove(); err != nil {
			return removed, err
		}
	}
	return removed, remove()
}

func (l *suppressionList) removeBatch(
	ctx context.Context, actor event.Actor, ids []id.Lead, forget bool,
) (gone int, took timing, err error) {
	took, err = l.update(ctx, func(ctx context.Context, tx store.Tx) error {
		gone = 0
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		suppressed := 0
		if forget {
			if suppressed, err = l.forget(ctx, tx, actor, ids); err != nil {
				return err
			}
		}
		removed, err := tx.Leads().Remove(ctx, ids, at)
		if err != nil {
			return err
		}
		if len(removed) == 0 {
			if suppressed > 0 {
				return nil
			}
			return errNothing
		}
		gone = len(removed)
		ids := make([]id.Lead, 0, gone)
		members := map[id.Campaign]int64{}
		for _, one := range removed {
			ids = append(ids, one.ID)
			for _, campaign := range one.Campaigns {
				members[campaign]--
			}
		}
		if err := tx.Campaigns().Count(ctx, members); err != nil {
			return err
		}
		return recordAll(ctx, tx, actor, lead.Removed(ids))
	})
	if err != nil {
		return 0, timing{}, err // gone is what the unit would have removed
	}
	l.committed()
	return gone, took, nil
}

// recordAll records events of an actor.
func recordAll(ctx context.Context, tx store.Tx, actor event.Actor, events []event.Event) error {
	for _, happened := range events {
		if err := tx.Record(ctx, happened.By(actor)); err != nil {
			return err
		}
	}
	return nil
}
