package sqlstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

func (l leads) Search(ctx context.Context, query lead.Query) (lead.Page, error) {
	var page lead.Page
	err := l.snapshot(ctx, func(ctx context.Context, s session) (err error) {
		if page.State, err = leadState(ctx, s); err != nil {
			return err
		}
		if !query.Uncounted {
			if page.Total, err = s.count(ctx, matching(s.selects((*leadRow)(nil)), query.Filter)); err != nil {
				return err
			}
		}
		found := matching(s.selects((*leadRow)(nil)), query.Filter).Column("key", "updated_at", "id", "labels").
			Where("(updated_at, id) > (?, ?)", millis(query.After.UpdatedAt), query.After.ID).
			OrderExpr("updated_at, id LIMIT ? OFFSET ?", query.Size+1, query.Skip)
		labels := newLabelReader()
		err = s.each(ctx, s.selects((*leadDocumentRow)(nil)).Column("entry").ColumnExpr("found.labels").
			Join("JOIN (?) AS found USING (key)", found).OrderExpr("found.updated_at, found.id"),
			func(rows *sql.Rows) error {
				one, err := labels.lead(rows)
				page.Leads = append(page.Leads, one.Exported)
				return err
			})
		if page.More = len(page.Leads) > query.Size; page.More {
			page.Leads = page.Leads[:query.Size]
		}
		return err
	})
	return page, err
}

// matching finds the leads that lead.Filter.Match does.
func matching(query *bun.SelectQuery, filter lead.Filter) *bun.SelectQuery {
	query = notRemoved(query)
	for _, label := range []string{string(filter.Industry), string(filter.Vertical), string(filter.Enrichment), string(filter.Campaign)} {
		if label != "" {
			query = labelled(query, label, true)
		}
	}
	if filter.HasWebsite != nil {
		query = labelled(query, websiteLabel, *filter.HasWebsite)
	}
	if filter.MinRating != nil {
		query = query.Where("rating >= ?", max(*filter.MinRating, 0))
	}
	if !filter.Since.IsZero() {
		query = query.Where("updated_at >= ?", millisFrom(filter.Since))
	}
	return query
}

// labelled finds leads that have a label, or that do not. Unlike LIKE, replace compares case-sensitively on every engine.
func labelled(query *bun.SelectQuery, label string, has bool) *bun.SelectQuery {
	return query.Where("(replace(labels, ?, '') <> labels) = ?", " "+label+" ", has)
}

func (l leads) Removed(ctx context.Context, query lead.RemovedQuery) (lead.RemovedPage, error) {
	var page lead.RemovedPage
	err := l.snapshot(ctx, func(ctx context.Context, s session) (err error) {
		if page.State, err = leadState(ctx, s); err != nil {
			return err
		}
		if page.Total, err = s.count(ctx, removedSince(s.selects((*leadRow)(nil)), query)); err != nil {
			return err
		}
		var rows []leadRow
		err = s.all(ctx, removedSince(s.selects(&rows), query).Column("id", "removed_at").
			Where("(removed_at, id) > (?, ?)", millis(query.After.UpdatedAt), query.After.ID).
			OrderExpr("removed_at, id LIMIT ? OFFSET ?", query.Size+1, query.Skip))
		page.More = len(rows) > query.Size
		for _, row := range rows[:min(len(rows), query.Size)] {
			page.Leads = append(page.Leads, lead.RemovedLead{ID: row.ID, RemovedAt: optionalInstant(row.RemovedAt)})
		}
		return err
	})
	return page, err
}

func removedSince(rows *bun.SelectQuery, query lead.RemovedQuery) *bun.SelectQuery {
	rows = rows.Where("removed_at IS NOT NULL")
	if !query.Since.IsZero() {
		rows = rows.Where("removed_at >= ?", millisFrom(query.Since))
	}
	return rows
}

func (l leads) RemovedPlace(ctx context.Context, which id.Lead) (lead.Place, error) {
	var found leadRow
	err := l.one(ctx, l.selects(&found).Column("id", "updated_at").Where("id = ?", which).Where("removed_at IS NOT NULL"),
		fault.New(fault.NotFound, "There was no such lead."))
	return lead.Place{UpdatedAt: instant(found.UpdatedAt), ID: found.ID}, err
}
