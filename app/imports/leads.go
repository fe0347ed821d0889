package imports

import (
	"context"
	"iter"
	"time"

	"holdco/app/retries"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Leads imports leads in batches.
func (s *Service) Leads(
	ctx context.Context, caller access.Caller, lines iter.Seq2[inbound.LeadLine, error], options inbound.ImportOptions,
) (lead.ImportCount, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return lead.ImportCount{}, err
	}
	catalog, err := s.catalog(ctx)
	if err != nil {
		return lead.ImportCount{}, err
	}
	check := leadCheck{catalog: catalog, own: options.KeepTimestamps, at: s.clock.Now()}
	keeper := leadKeeper{Service: s, actor: caller.Actor, dryRun: options.DryRun, compareFirst: true}
	idOf := func(l lead.Incoming) string { return string(l.ID) }
	return passes(ctx, lines, check.line, idOf, importing[lead.Incoming]{options: options, keep: keeper.keep})
}

// leadCheck validates lines of leads.
type leadCheck struct {
	catalog lead.Catalog
	own     bool      // leads bring their own timestamps
	at      time.Time // no timestamp may be later
}

func (c leadCheck) line(line inbound.LeadLine) checked[lead.Incoming] {
	one := checked[lead.Incoming]{end: line.End}
	read, err := line.Draft.Lead(c.catalog)
	problems := fieldsOf(err)
	if c.own && (line.Draft.CreatedAt != "" || line.Draft.UpdatedAt != "") {
		read.CreatedAt, read.UpdatedAt, err = line.Draft.Timestamps(c.at)
		problems.Add(fieldsOf(err)...)
	}
	if len(problems) > 0 {
		one.rejected = rejected(line.Number, line.Draft.ID, string(read.ID), problems)
		return one
	}
	one.item = read.Incoming()
	return one
}

// leadKeeper stores batches of leads.
type leadKeeper struct {
	*Service
	actor  event.Actor
	dryRun bool

	// compareFirst: the last batch had unchanged leads, so the next may be unchanged as a whole. Then it is compared
	// before a unit of work is begun.
	compareFirst bool
}

func (k *leadKeeper) keep(ctx context.Context, batch []lead.Incoming) (lead.Change, time.Duration, error) {
	ids := make([]id.Lead, len(batch))
	for i, one := range batch {
		ids[i] = one.ID
	}
	if k.compareFirst || k.dryRun {
		change, err := k.compare(ctx, ids, batch)
		if err != nil || k.dryRun || !change.Any() {
			return change, 0, err
		}
	}
	var change lead.Change
	took, err := k.update(ctx, func(ctx context.Context, tx store.Tx) error {
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		stored, err := tx.Leads().Summaries(ctx, ids)
		if err != nil {
			return err
		}
		merged := lead.Merge(batch, stored, at)
		if change = merged.Change; !change.Any() {
			return errNothing
		}
		if err := tx.Leads().Keep(ctx, merged.Changed); err != nil {
			return err
		}
		if err := tx.Campaigns().Count(ctx, merged.Members); err != nil {
			return err
		}
		return recordAll(ctx, tx, k.actor, merged.Events())
	})
	k.compareFirst = change.Unchanged > 0
	return change, took, err
}

// compare returns what storing a batch would change.
func (k *leadKeeper) compare(ctx context.Context, ids []id.Lead, batch []lead.Incoming) (lead.Change, error) {
	var change lead.Change
	err := retries.WhileUnavailable(ctx, retries.For(patience), func() error {
		stored, err := k.store.Leads().Summaries(ctx, ids)
		change = lead.Merge(batch, stored, k.clock.Now()).Change
		return err
	})
	return change, err
}

// fieldsOf returns the invalid fields of a refused draft.
func fieldsOf(err error) fault.Problems {
	if refused := fault.Of(err); refused != nil {
		return refused.Fields
	}
	return nil
}
