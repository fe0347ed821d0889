package imports

import (
	"cmp"
	"context"
	"iter"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// suppressions reads which leads must not be brought back, and in which revision that changed last.
func (s *Service) suppressions(ctx context.Context, kept store.LeadReader) (lead.Suppressions, lead.Revision, error) {
	state, err := kept.State(ctx)
	if err != nil || state.Suppressed == 0 {
		return lead.Suppressions{}, state.Suppressed, err
	}
	all, err := kept.Suppressions(ctx)
	if err != nil || len(all) == 0 {
		return lead.Suppressions{}, state.Suppressed, err
	}
	sealed, err := kept.SuppressionKey(ctx)
	if err != nil {
		return lead.Suppressions{}, 0, err
	}
	key, err := s.vault.Open(store.SuppressionKeyOwner, sealed)
	if err != nil {
		return lead.Suppressions{}, 0, noKey(err)
	}
	return lead.NewSuppressions(lead.SuppressionKey(key), all), state.Suppressed, nil
}

// noKey is the fault of a process that cannot tell which leads were forgotten.
func noKey(err error) error {
	return fault.New(fault.Unavailable, "Leads were forgotten, and the instance's key, which tells which, is not there: "+
		"run this where the key file is (HOLDCO_KEY_FILE).").Because(err)
}

// suppressionKey returns the key of digests, which it makes for the first suppression. The unit has advanced leads.
func (s *Service) suppressionKey(ctx context.Context, tx store.Tx) (lead.SuppressionKey, error) {
	sealed, err := tx.Leads().SuppressionKey(ctx)
	if err != nil {
		return "", err
	}
	if sealed != "" {
		key, err := s.vault.Open(store.SuppressionKeyOwner, sealed)
		if err != nil {
			err = noKey(err)
		}
		return lead.SuppressionKey(key), err
	}
	random := s.entropy.Bits256()
	key := lead.SuppressionKey(random[:])
	if sealed, err = store.SealIn(ctx, tx, s.vault, store.SuppressionKeyOwner, string(key)); err != nil {
		return "", noKey(err)
	}
	return key, tx.Leads().KeepSuppressionKey(ctx, sealed)
}

// forget makes suppressions of leads that are about to be removed, and of ids that are of none.
func (l *suppressionList) forget(ctx context.Context, tx store.Tx, actor event.Actor, ids []id.Lead) (added int, err error) {
	s := l.Service
	key, err := s.suppressionKey(ctx, tx)
	if err != nil {
		return 0, err
	}
	contents, err := tx.Leads().Contents(ctx, ids)
	if err != nil {
		return 0, err
	}
	made := make([]lead.Suppression, len(ids))
	for i, which := range ids {
		content := contents[which]
		content.ID = which
		made[i] = key.Forget(id.New[id.Suppression](s.ids.UUIDv7()), content, tx.Now())
	}
	return l.suppress(ctx, tx, actor, made)
}

// suppressionList knows the suppressions of the store, from one unit that adds to them to the next.
type suppressionList struct {
	*Service
	known lead.Suppressions
	since lead.Revision // of known; 0: nothing was read, and there may be none

	added   []lead.Suppression // by the unit that was run last, in a revision
	changed lead.Revision
}

// suppress adds suppressions with their event, and returns how many hold against what was not suppressed before. If none does, nothing is
// written.
func (l *suppressionList) suppress(ctx context.Context, tx store.Tx, actor event.Actor, made []lead.Suppression) (added int, err error) {
	state, err := tx.Leads().State(ctx)
	if err != nil {
		return 0, err
	}
	if state.Suppressed != l.since {
		if l.known, l.since, err = l.suppressions(ctx, tx.Leads()); err != nil {
			return 0, err
		}
	}
	l.added, l.changed = l.known.Lack(made), l.since
	added, err = tx.Leads().Suppress(ctx, l.added)
	if err != nil || added == 0 {
		return 0, err
	}
	if state, err = tx.Leads().State(ctx); err != nil {
		return 0, err
	}
	l.changed = state.Suppressed
	return added, tx.Record(ctx, lead.Suppressed(added).By(actor))
}

// committed says that the unit that was run last is.
func (l *suppressionList) committed() {
	l.known.Add(l.added)
	l.since, l.added = l.changed, nil
}

// Suppress implements inbound.Imports.
func (s *Service) Suppress(
	ctx context.Context, caller access.Caller, lines iter.Seq2[inbound.LeadLine, error], options inbound.ImportOptions,
) (lead.ImportCount, error) {
	var count lead.ImportCount
	if err := caller.Needs(access.Admin); err != nil {
		return count, err
	}
	for line, err := range lines {
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return count, err
		}
		count.Read++
		// Whether a line is valid does not depend on the key.
		if _, err := lead.SuppressionKey("").Suppress("", line.Draft, options.Rules, s.clock.Now()); err != nil {
			count.Rejected++
			at := place{line.Number, line.Item}
			if err := report(options, rejected(at, line.Draft.ID, "", fieldsOf(err))); err != nil {
				return count, err
			}
		}
	}
	if count.Rejected > 0 {
		return count, nil // all or nothing: a person who was overlooked would come back
	}
	batch, list := make([]lead.Draft, 0, usualPace.size), &suppressionList{Service: s}
	flush := func() error {
		if ctx.Err() != nil || len(batch) == 0 {
			return ctx.Err()
		}
		added, err := list.suppressSome(ctx, caller.Actor, batch, options.Rules)
		if err != nil {
			return err
		}
		count.Suppressed += int64(added)
		count.Unchanged += len(batch) - added
		batch = batch[:0]
		return nil
	}
	for line, err := range lines {
		if err != nil {
			return count, err
		}
		if batch = append(batch, line.Draft); len(batch) < usualPace.size {
			continue
		}
		if err := flush(); err != nil {
			return count, err
		}
	}
	return count, flush()
}

func (l *suppressionList) suppressSome(
	ctx context.Context, actor event.Actor, drafts []lead.Draft, rules lead.Rules,
) (added int, err error) {
	s := l.Service
	_, err = s.update(ctx, func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		key, err := s.suppressionKey(ctx, tx)
		if err != nil {
			return err
		}
		made := make([]lead.Suppression, len(drafts))
		for i, draft := range drafts {
			if made[i], err = key.Suppress(id.New[id.Suppression](s.ids.UUIDv7()), draft, rules, tx.Now()); err != nil {
				return err
			}
		}
		if added, err = l.suppress(ctx, tx, actor, made); err == nil && added == 0 {
			err = errNothing
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	l.committed()
	return added, nil
}

// Suppressed implements inbound.Imports.
func (s *Service) Suppressed(ctx context.Context, caller access.Caller) ([]lead.Suppression, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return nil, err
	}
	return s.store.Leads().Suppressions(ctx)
}

// Release implements inbound.Imports.
func (s *Service) Release(ctx context.Context, caller access.Caller, which []id.Suppression, of []id.Lead) (released int, err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return 0, err
	}
	_, err = s.update(ctx, func(ctx context.Context, tx store.Tx) error {
		released = 0
		if _, err := tx.Leads().Advance(ctx); err != nil {
			return err
		}
		all := append([]id.Suppression(nil), which...)
		if len(of) > 0 {
			known, _, err := s.suppressions(ctx, tx.Leads())
			if err != nil {
				return err
			}
			for _, one := range of {
				all = append(all, known.Of(one)...)
			}
		}
		if released, err = tx.Leads().Release(ctx, all); err != nil {
			return err
		}
		if released == 0 {
			return errNothing
		}
		return tx.Record(ctx, lead.Released(released).By(caller.Actor))
	})
	if err != nil {
		return 0, err // released is what the unit would have released
	}
	return released, nil
}
