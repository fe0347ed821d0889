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
	keeper := leadKeeper{
		Service: s, actor: caller.Actor, dryRun: options.DryRun, compareFirst: true, suppressed: suppressed, since: since,
	}
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

	suppressed lead.Suppressions // by which lines were checked
	since      lead.Revision     // of these
	late       int64             // how many lines others suppressed since, or what is stored of their leads

	// compareFirst: the last batch had unchanged leads, so the next may be unchanged as a whole. Then it is compared
	// before a unit of work is begun.
	compareFirst bool
}

func (k *leadKeeper) keep(ctx context.Context, batch []lead.Incoming) (lead.Change, timing, error) {
	if k.compareFirst || k.dryRun {
		change, late, err := k.compare(ctx, batch)
		if err != nil || k.dryRun || !change.Any() {
			k.late += late
			return change, timing{}, err
		}
	}
	var change lead.Change
	var late int64
	took, err := k.update(ctx, func(ctx context.Context, tx store.Tx) error {
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		suppressed, left, err := k.notForgotten(ctx, tx, batch)
		if err != nil {
			return err
		}
		merged, more, err := merge(ctx, tx.Leads(), left, suppressed, at)
		if err != nil {
			return err
		}
		late = int64(len(batch) - len(left) + more)
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
	k.late += late
	return change, took, nil
}

// notForgotten drops the leads of a batch that were forgotten after their lines were checked. It returns what is suppressed by now, too.
func (k *leadKeeper) notForgotten(
	ctx context.Context, tx store.Tx, batch []lead.Incoming,
) (lead.Suppressions, []lead.Incoming, error) {
	state, err := tx.Leads().State(ctx)
	if err != nil || state.Suppressed == k.since {
		return k.suppressed, batch, err
	}
	suppressed, _, err := k.suppressions(ctx, tx.Leads())
	if err != nil {
		return suppressed, nil, err
	}
	return suppressed, slices.DeleteFunc(slices.Clone(batch), suppressed.Has), nil
}

// compare returns what storing a batch would change, and how many lines would be suppressed by what is stored of their leads.
func (k *leadKeeper) compare(ctx context.Context, batch []lead.Incoming) (change lead.Change, late int64, err error) {
	err = retries.WhileUnavailable(ctx, retries.For(patience), func() error {
		return k.store.View(ctx, func(ctx context.Context, r store.Reader) error {
			merged, leftOut, err := merge(ctx, r.Leads(), batch, k.suppressed, k.clock.Now())
			change, late = merged.Change, int64(leftOut)
			return err
		})
	})
	return change, late, err
}

// merge compares a batch with what is stored. It leaves out the leads that are suppressed by what is stored of them.
func merge(
	ctx context.Context, kept store.LeadReader, batch []lead.Incoming, suppressed lead.Suppressions, at time.Time,
) (merged lead.Merged, leftOut int, err error) {
	ids := make([]id.Lead, 0, len(batch))
	for i := range batch {
		ids = batch[i].Sought(ids)
	}
	stored, err := kept.Summaries(ctx, ids)
	if err != nil {
		return lead.Merged{}, 0, err
	}
	contents, err := kept.Contents(ctx, lead.Partial(batch, stored))
	if err != nil {
		return lead.Merged{}, 0, err
	}
	whole, leftOut := lead.Complete(batch, stored, contents, suppressed)
	return lead.Merge(whole, stored, at), leftOut, nil
}

// fieldsOf returns the invalid fields of a refused draft.
func fieldsOf(err error) fault.Problems {
	if refused := fault.Of(err); refused != nil {
		return refused.Fields
	}
	return nil
}
