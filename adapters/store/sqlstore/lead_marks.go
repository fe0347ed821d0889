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
	query := markColumns(notRemoved(l.selects((*leadRow)(nil)))).
		Where("(updated_at, id) > (?, ?)", millis(after.UpdatedAt), after.ID).
		Where("(updated_at, id) <= (?, ?)", millis(upTo.UpdatedAt), upTo.ID).
		OrderExpr("updated_at, id LIMIT ?", size)
	labels, bare := newLabelReader(), []int{}
	marks, err := scanned(ctx, l.session, query, size, row.markColumns(), func(i int) store.LeadMark {
		if row.Hashes == "" {
			bare = append(bare, i)
		}
		return row.mark(labels.read(row.Labels))
	})
	if err != nil {
		return nil, err
	}
	return marks, l.complete(ctx, bare, func(i int) *store.LeadMark { return &marks[i] })
}

func (l leads) Changes(ctx context.Context, after store.ChangeCursor, size int) ([]store.LeadChange, error) {
	var row leadRow
	query := markColumns(l.selects((*leadRow)(nil))).Column("revision", "removed_at").
		Where("(revision, key) > (?, ?)", after.Revision, after.Key).
		OrderExpr("revision, key LIMIT ?", size)
	labels, bare := newLabelReader(), []int{}
	columns := append(row.markColumns(), &row.Revision, &row.RemovedAt)
	changes, err := scanned(ctx, l.session, query, size, columns, func(i int) store.LeadChange {
		change := store.LeadChange{Revision: lead.Revision(row.Revision)}
		if row.RemovedAt != nil {
			change.Removed, change.Key = true, row.Key
			return change
		}
		if row.Hashes == "" {
			bare = append(bare, i)
		}
		change.LeadMark = row.mark(labels.read(row.Labels))
		return change
	})
	if err != nil {
		return nil, err
	}
	return changes, l.complete(ctx, bare, func(i int) *store.LeadMark { return &changes[i].LeadMark })
}

// scanned reads each row of a query, of which there are at most size, into the columns, and returns what value makes of each, which
// gets its number.
func scanned[T any](ctx context.Context, s session, query *bun.SelectQuery, size int, columns []any, value func(i int) T) ([]T, error) {
	const usual = 4096
	values := make([]T, 0, min(size, usual))
	err := s.each(ctx, query, func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		values = append(values, value(len(values)))
		return nil
	})
	return values, err
}
