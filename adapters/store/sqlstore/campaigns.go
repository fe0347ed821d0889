package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// campaigns implements store.Campaigns.
type campaigns struct {
	stored[id.Campaign, lead.Campaign]
}

func campaignsOf(s session) campaigns {
	return campaigns{stored[id.Campaign, lead.Campaign]{s, campaignTable}}
}

var campaignTable = tableOf("campaigns", fault.New(fault.NotFound, "There is no such campaign."),
	asText("id", func(c *lead.Campaign) *id.Campaign { return &c.ID }),
	asText("name", func(c *lead.Campaign) *string { return &c.Name }),
	asText("status", func(c *lead.Campaign) *lead.Status { return &c.Status }),
	asText("industry_id", func(c *lead.Campaign) *id.Industry { return &c.Industry }),
	asText("vertical_id", func(c *lead.Campaign) *id.Vertical { return &c.Vertical }),
	asText("geography_id", func(c *lead.Campaign) *id.Geography { return &c.Geography }),
	asInteger("lead_count", func(c *lead.Campaign) *int64 { return &c.LeadCount }).fixed(), // see Count
	asMillis(createdAt, func(c *lead.Campaign) *time.Time { return &c.CreatedAt }),
	asMillis("updated_at", func(c *lead.Campaign) *time.Time { return &c.UpdatedAt }),
)

func (c campaigns) Search(ctx context.Context, query lead.CampaignQuery) (lead.CampaignPage, error) {
	var page lead.CampaignPage
	err := c.snapshot(ctx, func(ctx context.Context, s session) (err error) {
		if page.State, err = leadState(ctx, s); err != nil {
			return err
		}
		if page.Total, err = s.count(ctx, wanted(s.selectFrom(campaignTable.name), query.Filter)); err != nil {
			return err
		}
		page.Campaigns, err = readAll(ctx, s, campaignTable, wanted(selectRows(s, campaignTable), query.Filter).
			Where("(updated_at, id) > (?, ?)", millis(query.After.UpdatedAt), query.After.ID).
			OrderExpr("updated_at, id LIMIT ? OFFSET ?", query.Size+1, query.Skip))
		if page.More = len(page.Campaigns) > query.Size; page.More {
			page.Campaigns = page.Campaigns[:query.Size]
		}
		return err
	})
	return page, err
}

// wanted finds the campaigns that lead.CampaignFilter.Match does.
func wanted(query *bun.SelectQuery, filter lead.CampaignFilter) *bun.SelectQuery {
	if filter.Status != "" {
		query = query.Where("status = ?", filter.Status)
	}
	if filter.Industry != "" {
		query = query.Where("industry_id = ?", filter.Industry)
	}
	if filter.Vertical != "" {
		query = query.Where("vertical_id = ?", filter.Vertical)
	}
	if filter.Geography != "" {
		query = query.Where("geography_id = ?", filter.Geography)
	}
	if filter.HasLeads != nil {
		if *filter.HasLeads {
			query = query.Where("lead_count > 0")
		} else {
			query = query.Where("lead_count <= 0")
		}
	}
	if !filter.Since.IsZero() {
		query = query.Where("updated_at >= ?", millisFrom(filter.Since))
	}
	if len(filter.View.Campaigns) > 0 {
		query = query.Where("id IN (?)", bun.List(filter.View.Campaigns))
	}
	if len(filter.View.Industries) > 0 {
		query = query.Where("industry_id IN (?)", bun.List(filter.View.Industries))
	}
	return query.Where("lead_count >= ?", filter.MinLeads)
}

var listedCampaigns = prepare(func(b builder) fmt.Stringer {
	return campaignTable.selects(b.db()).Where("id IN (SELECT listed.value FROM ?)", bun.Safe(b.engine.Listed(1)))
})

func (c campaigns) Listed(ctx context.Context, ids []id.Campaign) ([]lead.Campaign, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	texts := make([]string, len(ids))
	for i, which := range ids {
		texts[i] = string(which)
	}
	return readListed(ctx, c.session, campaignTable, listedCampaigns, texts)
}

func (c campaigns) IDs(ctx context.Context) ([]id.Campaign, error) {
	var ids []id.Campaign
	err := c.scan(ctx, c.selectFrom(c.table.name).Column("id").Order("id"), &ids)
	return ids, err
}

func (c campaigns) Industries(ctx context.Context) (map[id.Campaign]id.Industry, error) {
	of := map[id.Campaign]id.Industry{}
	query := c.selectFrom(c.table.name).Column("id", "industry_id").Where("industry_id <> ''")
	return of, c.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Campaign
		var industry id.Industry
		err := rows.Scan(&which, &industry)
		of[which] = industry
		return err
	})
}

func (c campaigns) Keep(ctx context.Context, kept []lead.Campaign) error {
	revision, err := c.unit.advanced()
	if err != nil || len(kept) == 0 {
		return err
	}
	if err := c.noteMoves(ctx, kept, revision); err != nil {
		return err
	}
	kept = slices.Clone(kept)
	for i := range kept {
		kept[i].LeadCount = 0 // of a new one
	}
	return replaceMany(ctx, c.session, c.table, kept)
}

// noteMoves notes which campaigns are about to get another industry: see feedReader.addMoved.
func (c campaigns) noteMoves(ctx context.Context, kept []lead.Campaign, revision int64) error {
	ids, of := make([]id.Campaign, len(kept)), make(map[id.Campaign]id.Industry, len(kept))
	for i, one := range kept {
		ids[i], of[one.ID] = one.ID, one.Industry
	}
	var moved []id.Campaign
	query := c.selectFrom(c.table.name).Column("id", "industry_id").Where("id IN (?)", bun.List(ids))
	err := c.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Campaign
		var industry id.Industry
		err := rows.Scan(&which, &industry)
		if industry != of[which] {
			moved = append(moved, which)
		}
		return err
	})
	if err != nil || len(moved) == 0 {
		return err
	}
	_, err = c.change(ctx, c.engine.DB().NewUpdate().Conn(c.conn).Table(c.table.name).
		Set("moved_revision = ?", revision).Where("id IN (?)", bun.List(moved)))
	return err
}

func (c campaigns) Count(ctx context.Context, by map[id.Campaign]int64) error {
	if _, err := c.unit.advanced(); err != nil {
		return err
	}
	var rows []countRow
	for _, which := range slices.Sorted(maps.Keys(by)) {
		if by[which] != 0 {
			rows = append(rows, countRow{ID: which, Change: by[which]})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	db := c.engine.DB()
	changed, err := c.change(ctx, db.NewUpdate().Conn(c.conn).Table(c.table.name).With("counts", db.NewValues(&rows)).TableExpr("counts").
		Set("lead_count = lead_count + counts.change").Where("campaigns.id = counts.id"))
	if err == nil && changed != len(rows) {
		return fmt.Errorf("the leads of %d campaigns were counted, but there are only %d", len(rows), changed)
	}
	return err
}

// countRow is by how much a lead count changes.
type countRow struct {
	ID     id.Campaign `bun:"id"`
	Change int64       `bun:"change"`
}
