package sqlstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"holdco/domain/lead"
	"holdco/ports/store"
)

func (l leads) Last(ctx context.Context) (lead.Place, error) {
	var rows []leadRow
	err := l.all(ctx, notRemoved(l.selects(&rows)).Column("updated_at", "id").OrderExpr("updated_at DESC, id DESC LIMIT 1"))
	if err != nil || len(rows) == 0 {
		return lead.Place{}, err
	}
	return lead.Place{UpdatedAt: instant(rows[0].UpdatedAt), ID: rows[0].ID}, nil
}

func (l leads) Marks(ctx context.Context, after, upTo lead.Place, size int) ([]store.LeadMark, error) {
	var row leadRow
	query := notRemoved(l.selects((*leadRow)(nil))).Column(markColumns()...).
		Where("(updated_at, id) > (?, ?)", millis(after.UpdatedAt), after.ID).
		Where("(updated_at, id) <= (?, ?)", millis(upTo.UpdatedAt), upTo.ID).
		OrderExpr("updated_at, id LIMIT ?", size)
	labels := newLabelReader()
	return scanned(ctx, l.session, query, size, row.markColumns(), func() store.LeadMark {
		return row.mark(labels.read(row.Labels))
	})
}

func (l leads) Changes(ctx context.Context, after store.ChangeCursor, size int) ([]store.LeadChange, error) {
	var row leadRow
	query := l.selects((*leadRow)(nil)).Column(markColumns()...).Column("revision", "removed_at").
		Where("(revision, key) > (?, ?)", after.Revision, after.Key).
		OrderExpr("revision, key LIMIT ?", size)
	labels := newLabelReader()
	return scanned(ctx, l.session, query, size, append(row.markColumns(), &row.Revision, &row.RemovedAt), func() store.LeadChange {
		change := store.LeadChange{Revision: lead.Revision(row.Revision)}
		if row.RemovedAt != nil {
			change.Removed, change.Key = true, row.Key
		} else {
			change.LeadMark = row.mark(labels.read(row.Labels))
		}
		return change
	})
}

// scanned reads each row of a query, of which there are at most size, into the columns, and returns what value makes of each.
func scanned[T any](ctx context.Context, s session, query *bun.SelectQuery, size int, columns []any, value func() T) ([]T, error) {
	const usual = 4096
	values := make([]T, 0, min(size, usual))
	err := s.each(ctx, query, func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		values = append(values, value())
		return nil
	})
	return values, err
}
