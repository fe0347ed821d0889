package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// campaigns implements store.Campaigns.
type campaigns struct{ session }

var noCampaign = fault.New(fault.NotFound, "There is no such campaign.")

func (c campaigns) Get(ctx context.Context, which id.Campaign) (lead.Campaign, error) {
	var found campaignRow
	if err := c.one(ctx, byID(c.selects(&found), which), noCampaign); err != nil {
		return lead.Campaign{}, err
	}
	return found.value(), nil
}

func (c campaigns) Search(ctx context.Context, query lead.CampaignQuery) (lead.CampaignPage, error) {
	var page lead.CampaignPage
	err := c.agreeing(ctx, func(ctx context.Context, s session) (err error) {
		if page.State, err = leadState(ctx, s); err != nil {
			return err
		}
		if page.Total, err = s.count(ctx, wanted(s.selects((*campaignRow)(nil)), query.Filter)); err != nil {
			return err
		}
		var rows []campaignRow
		err = s.all(ctx, wanted(s.selects(&rows), query.Filter).
			Where("(updated_at, id) > (?, ?)", millis(query.After.UpdatedAt), query.After.ID).
			OrderExpr("updated_at, id LIMIT ? OFFSET ?", query.Size+1, query.Skip))
		page.More = len(rows) > query.Size
		for _, row := range rows[:min(len(rows), query.Size)] {
			page.Campaigns = append(page.Campaigns, row.value())
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
	return query.Where("lead_count >= ?", filter.MinLeads)
}

func (c campaigns) IDs(ctx context.Context) ([]id.Campaign, error) {
	var rows []campaignRow
	if err := c.all(ctx, c.selects(&rows).Column("id").Order("id")); err != nil {
		return nil, err
	}
	ids := make([]id.Campaign, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids, nil
}

func (c campaigns) Keep(ctx context.Context, kept []lead.Campaign) error {
	if _, err := c.ledger.advanced(); err != nil || len(kept) == 0 {
		return err
	}
	rows := make([]campaignRow, len(kept))
	for i, one := range kept {
		rows[i] = campaignRowOf(one)
	}
	return c.replace(ctx, &rows, "lead_count")
}

func (c campaigns) Count(ctx context.Context, by map[id.Campaign]int64) error {
	if _, err := c.ledger.advanced(); err != nil {
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
	changed, err := c.change(ctx, c.updates((*campaignRow)(nil)).With("counts", c.engine.DB().NewValues(&rows)).TableExpr("counts").
		Set("lead_count = lead_count + counts.change").Where("?TableAlias.id = counts.id"))
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

type campaignRow struct {
	bun.BaseModel `bun:"table:campaigns"`

	ID        id.Campaign  `bun:"id,pk"`
	Name      string       `bun:"name"`
	Status    lead.Status  `bun:"status"`
	Industry  id.Industry  `bun:"industry_id"`
	Vertical  id.Vertical  `bun:"vertical_id"`
	Geography id.Geography `bun:"geography_id"`
	LeadCount int64        `bun:"lead_count"`
	CreatedAt int64        `bun:"created_at"`
	UpdatedAt int64        `bun:"updated_at"`
}

func campaignRowOf(c lead.Campaign) campaignRow {
	return campaignRow{
		ID:        c.ID,
		Name:      c.Name,
		Status:    c.Status,
		Industry:  c.Industry,
		Vertical:  c.Vertical,
		Geography: c.Geography,
		CreatedAt: millis(c.CreatedAt),
		UpdatedAt: millis(c.UpdatedAt),
	}
}

func (r campaignRow) value() lead.Campaign {
	return lead.Campaign{
		ID:        r.ID,
		Name:      r.Name,
		Status:    r.Status,
		Industry:  r.Industry,
		Vertical:  r.Vertical,
		Geography: r.Geography,
		LeadCount: r.LeadCount,
		CreatedAt: instant(r.CreatedAt),
		UpdatedAt: instant(r.UpdatedAt),
	}
}
