package sqlstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"holdco/domain/id"
	"holdco/domain/lead"
)

func (l leads) Search(ctx context.Context, query lead.Query) (lead.Page, error) {
	var page lead.Page
	err := l.snapshot(ctx, func(ctx context.Context, s session) (err error) {
		if page.State, err = leadState(ctx, s); err != nil {
			return err
		}
		others, err := s.lookedUp(ctx, query.Filter)
		if err != nil {
			return err
		}
		matches := func() *bun.SelectQuery { return matching(s.selects((*leadRow)(nil)), query.Filter, others) }
		if !query.Uncounted {
			if page.Total, err = s.count(ctx, matches()); err != nil {
				return err
			}
		}
		if query.Size == 0 {
			return nil
		}
		found := matches().Column("key", "updated_at", "id", "labels").
			Where("(updated_at, id) > (?, ?)", millis(query.After.UpdatedAt), query.After.ID).
			OrderExpr("updated_at, id LIMIT ? OFFSET ?", query.Size+1, query.Skip)
		labels, room := newLabelReader(), lead.RoomFor(query.Bytes)
		err = s.each(ctx, s.selects((*leadDocumentRow)(nil)).Column("entry").ColumnExpr("found.labels").
			Join("JOIN (?) AS found USING (key)", found).OrderExpr("found.updated_at, found.id"),
			func(rows *sql.Rows) error {
				if page.More {
					return nil
				}
				one, err := labels.lead(rows)
				if err != nil {
					return err
				}
				if page.More = len(page.Leads) == query.Size || !room.Take(one.Exported.Document.Size()); !page.More {
					page.Leads = append(page.Leads, one.Exported)
				}
				return nil
			})
		return err
	})
	return page, err
}

// matching finds the leads that lead.Filter.Match does. Others are the keys that lookedUp returned.
func matching(query *bun.SelectQuery, filter lead.Filter, others []int64) *bun.SelectQuery {
	query = lookingUp(shownBy(notRemoved(query), filter.View), filter, others)
	if filter.None {
		query = query.Where("1 = 0")
	}
	if len(filter.IDs) > 0 {
		query = query.Where("id IN (?)", bun.List(filter.IDs))
	}
	query = labelled(query, filter.Campaigns)
	query = labelled(query, filter.Industries)
	query = labelled(query, filter.Verticals)
	query = labelled(query, filter.Enrichments)
	if filter.HasWebsite != nil {
		query = query.Where("(?) = ?", hasLabel(websiteLabel), *filter.HasWebsite)
	}
	if filter.MinRating != nil {
		query = query.Where("rating >= ?", max(*filter.MinRating, 0))
	}
	if filter.MaxRating != nil {
		query = query.Where("rating BETWEEN 0 AND ?", *filter.MaxRating)
	}
	if !filter.Since.IsZero() {
		query = query.Where("updated_at >= ?", millisFrom(filter.Since))
	}
	if !filter.UpdatedBefore.IsZero() {
		query = query.Where("updated_at < ?", millisFrom(filter.UpdatedBefore))
	}
	if !filter.CreatedBefore.IsZero() {
		query = query.Where("created_at < ?", millisFrom(filter.CreatedBefore))
	}
	return query
}

// shownBy finds the leads that a view shows.
func shownBy(query *bun.SelectQuery, view lead.View) *bun.SelectQuery {
	return labelled(labelled(query, view.Campaigns), view.Industries)
}

// labelled finds leads that have one of some labels; all, if there are none.
func labelled[T ~string](query *bun.SelectQuery, some []T) *bun.SelectQuery {
	if len(some) == 0 {
		return query
	}
	return query.WhereGroup(" AND ", func(query *bun.SelectQuery) *bun.SelectQuery {
		for _, label := range some {
			query = query.WhereOr("?", hasLabel(string(label)))
		}
		return query
	})
}

// hasLabel holds for leads that have a label. Unlike LIKE, replace compares case-sensitively on every engine.
func hasLabel(label string) schema.QueryWithArgs {
	return bun.SafeQuery("replace(labels, ?, '') <> labels", " "+label+" ")
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
	rows = shownBy(rows.Where("removed_at IS NOT NULL"), query.View)
	if !query.Since.IsZero() {
		rows = rows.Where("removed_at >= ?", millisFrom(query.Since))
	}
	return rows
}

func (l leads) RemovedPlace(ctx context.Context, view lead.View, which id.Lead) (lead.Place, error) {
	var found leadRow
	err := l.one(ctx, shownBy(l.selects(&found), view).Column("id", "updated_at").Where("id = ?", which).Where("removed_at IS NOT NULL"),
		lead.ErrMissing)
	return lead.Place{UpdatedAt: instant(found.UpdatedAt), ID: found.ID}, err
}
