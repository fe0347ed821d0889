package imports

import (
	"context"
	"hash/maphash"
	"iter"
	"time"

	"holdco/app/retries"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Campaigns imports campaigns in batches.
func (s *Service) Campaigns(
	ctx context.Context, caller access.Caller, lines iter.Seq2[inbound.CampaignLine, error], options inbound.ImportOptions,
) (lead.ImportCount, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return lead.ImportCount{}, err
	}
	catalog, err := s.catalog(ctx)
	if err != nil {
		return lead.ImportCount{}, err
	}
	check := campaignCheck{catalog: catalog, own: options.KeepTimestamps, at: s.clock.Now()}
	keep := func(ctx context.Context, batch []lead.Campaign) (lead.Change, timing, error) {
		return s.keepCampaigns(ctx, caller.Actor, batch, options.DryRun)
	}
	of := reading[lead.CampaignDraft, lead.Campaign]{
		check: check.line,
		id:    func(c lead.Campaign) string { return string(c.ID) },
		content: func(seed maphash.Seed, c lead.Campaign) uint64 {
			created, updated := c.CreatedAt.UnixMilli(), c.UpdatedAt.UnixMilli()
			c.CreatedAt, c.UpdatedAt = time.Time{}, time.Time{} // the same instant can have several time zones
			return maphash.Comparable(seed, dated[lead.Campaign]{c, created, updated})
		},
	}
	return passes(ctx, lines, of, importing[lead.Campaign]{options: options, keep: keep})
}

// dated is content with its timestamps in milliseconds.
type dated[T comparable] struct {
	content          T
	created, updated int64
}

// campaignCheck validates lines of campaigns.
type campaignCheck struct {
	catalog lead.Catalog
	own     bool
	at      time.Time
}

func (c campaignCheck) line(line inbound.CampaignLine) checked[lead.Campaign] {
	read, err := line.Draft.Campaign(c.catalog)
	problems := fieldsOf(err)
	if c.own && (line.Draft.CreatedAt != "" || line.Draft.UpdatedAt != "") {
		read.CreatedAt, read.UpdatedAt, err = line.Draft.Timestamps(c.at)
		problems.Add(fieldsOf(err)...)
	}
	one := checked[lead.Campaign]{item: read, place: place{line.Number, line.Item}, end: line.End}
	if len(problems) > 0 {
		one.rejected = rejected(one.place, line.Draft.ID, string(read.ID), problems)
	}
	return one
}

// keepCampaigns stores a batch of campaigns. It compares first without a unit of work, which most repeated imports do
// not need.
func (s *Service) keepCampaigns(
	ctx context.Context, actor event.Actor, batch []lead.Campaign, dryRun bool,
) (change lead.Change, took timing, err error) {
	err = retries.WhileUnavailable(ctx, retries.For(patience), func() error {
		stored, err := storedCampaigns(ctx, s.store.Campaigns(), batch)
		_, change = lead.MergeCampaigns(batch, stored, s.clock.Now())
		return err
	})
	if err != nil || dryRun || !change.Any() {
		return change, timing{}, err
	}
	took, err = s.update(ctx, func(ctx context.Context, tx store.Tx) error {
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		stored, err := storedCampaigns(ctx, tx.Campaigns(), batch)
		if err != nil {
			return err
		}
		var changed []lead.Campaign
		if changed, change = lead.MergeCampaigns(batch, stored, at); !change.Any() {
			return errNothing
		}
		if err := tx.Campaigns().Keep(ctx, changed); err != nil {
			return err
		}
		return tx.Record(ctx, change.Imported(event.CampaignImported).By(actor))
	})
	return change, took, err
}

// storedCampaigns reads the stored campaigns with the ids of a batch.
func storedCampaigns(ctx context.Context, kept store.CampaignReader, batch []lead.Campaign) (map[id.Campaign]lead.Campaign, error) {
	ids := make([]id.Campaign, len(batch))
	for i, one := range batch {
		ids[i] = one.ID
	}
	found, err := kept.Listed(ctx, ids)
	if err != nil {
		return nil, err
	}
	stored := make(map[id.Campaign]lead.Campaign, len(found))
	for _, one := range found {
		stored[one.ID] = one
	}
	return stored, nil
}
