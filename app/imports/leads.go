package imports

import (
	"context"
	"hash/maphash"
	"iter"
	"slices"
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
	suppressed, since, err := s.suppressions(ctx, s.store.Leads())
	if err != nil {
		return lead.ImportCount{}, err
	}
	check := leadCheck{
		catalog: catalog, rules: options.Rules, own: options.KeepTimestamps, at: s.clock.Now(), suppressed: suppressed,
	}
	keeper := leadKeeper{Service: s, actor: caller.Actor, dryRun: options.DryRun, compareFirst: true, since: since}
	of := reading[lead.Draft, lead.Incoming]{
		check: check.line,
		id:    func(l lead.Incoming) string { return string(l.ID) },
		content: func(seed maphash.Seed, l lead.Incoming) uint64 {
			return maphash.Comparable(seed, dated[lead.Content]{l.Content(), l.CreatedAt.UnixMilli(), l.UpdatedAt.UnixMilli()})
		},
	}
	count, err := passes(ctx, lines, of, importing[lead.Incoming]{options: options, keep: keeper.keep})
	count.Suppressed += keeper.late
	return count, err
}

// leadCheck validates lines of leads.
type leadCheck struct {
	catalog lead.Catalog
	rules   lead.Rules
	own     bool      // leads bring their own timestamps
	at      time.Time // no timestamp may be later

	suppressed lead.Suppressions
}

func (c leadCheck) line(line inbound.LeadLine) checked[lead.Incoming] {
	one := checked[lead.Incoming]{place: place{line.Number, line.Item}, end: line.End}
	read, err := line.Draft.Read(c.catalog, c.rules)
	problems := fieldsOf(err)
	if c.own && (line.Draft.CreatedAt != "" || line.Draft.UpdatedAt != "") {
		read.CreatedAt, read.UpdatedAt, err = line.Draft.Timestamps(c.at)
		problems.Add(fieldsOf(err)...)
	}
	if len(problems) > 0 {
		one.rejected = rejected(one.place, line.Draft.ID, string(read.ID), problems)
		return one
	}
	if c.suppressed.Has(read) {
		one.suppressed = true
		return one
	}
	if len(read.Dropped) > 0 {
		one.trimmed = &lead.ReportedLine{
			Number: line.Number, Item: line.Item, ID: string(read.ID), Outcome: lead.LineTrimmed, Problems: read.Dropped,
		}
	}
	one.item = read.Digested()
	return one
}

// leadKeeper stores batches of leads.
type leadKeeper struct {
	*Service
	actor  event.Actor
	dryRun bool

	since lead.Revision // of the suppressions that lines were checked by
	late  int64         // how many lines were suppressed after they were checked

	// compareFirst: the last batch had unchanged leads, so the next may be unchanged as a whole. Then it is compared
	// before a unit of work is begun.
	compareFirst bool
}

func (k *leadKeeper) keep(ctx context.Context, batch []lead.Incoming) (lead.Change, timing, error) {
	if k.compareFirst || k.dryRun {
		change, err := k.compare(ctx, batch)
		if err != nil || k.dryRun || !change.Any() {
			return change, timing{}, err
		}
	}
	var change lead.Change
	late := 0
	took, err := k.update(ctx, func(ctx context.Context, tx store.Tx) error {
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		left, err := k.notForgotten(ctx, tx, batch)
		if err != nil {
			return err
		}
		late = len(batch) - len(left)
		merged, err := merge(ctx, tx.Leads(), left, at)
		if err != nil {
			return err
		}
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
	if err != nil {
		return lead.Change{}, timing{}, err
	}
	k.compareFirst = change.Unchanged > 0
	k.late += int64(late)
	return change, took, nil
}

// notForgotten drops the leads of a batch that were forgotten after their lines were checked.
func (k *leadKeeper) notForgotten(ctx context.Context, tx store.Tx, batch []lead.Incoming) ([]lead.Incoming, error) {
	state, err := tx.Leads().State(ctx)
	if err != nil || state.Suppressed == k.since {
		return batch, err
	}
	suppressed, _, err := k.suppressions(ctx, tx.Leads())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(batch), suppressed.Has), nil
}

// compare returns what storing a batch would change.
func (k *leadKeeper) compare(ctx context.Context, batch []lead.Incoming) (change lead.Change, err error) {
	err = retries.WhileUnavailable(ctx, retries.For(patience), func() error {
		return k.store.View(ctx, func(ctx context.Context, r store.Reader) error {
			merged, err := merge(ctx, r.Leads(), batch, k.clock.Now())
			change = merged.Change
			return err
		})
	})
	return change, err
}

// merge compares a batch with what is stored.
func merge(ctx context.Context, kept store.LeadReader, batch []lead.Incoming, at time.Time) (lead.Merged, error) {
	ids := make([]id.Lead, 0, len(batch))
	for i := range batch {
		ids = batch[i].Sought(ids)
	}
	stored, err := kept.Summaries(ctx, ids)
	if err != nil {
		return lead.Merged{}, err
	}
	contents, err := kept.Contents(ctx, lead.Partial(batch, stored))
	if err != nil {
		return lead.Merged{}, err
	}
	return lead.Merge(lead.Complete(batch, stored, contents), stored, at), nil
}

// fieldsOf returns the invalid fields of a refused draft.
func fieldsOf(err error) fault.Problems {
	if refused := fault.Of(err); refused != nil {
		return refused.Fields
	}
	return nil
}
