package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// leads implements store.Leads. What only reads knows no instant.
type leads struct {
	session
	now time.Time
}

var noLead = fault.New(fault.NotFound, "There is no such lead.")

func (l leads) Get(ctx context.Context, which id.Lead) (lead.Exported, error) {
	var text string
	if err := l.row(ctx, []any{&text}, noLead, l.texts.leadByID, string(which)); err != nil {
		return lead.Exported{}, err
	}
	found, err := currentForm.parse(text)
	return found.Entry, err
}

func entryOf(db *bun.DB, which any) *bun.SelectQuery {
	found := standing(db.NewSelect().Model((*leadRow)(nil))).Column("key").Where("id = ?", which)
	return db.NewSelect().Model((*leadEntryRow)(nil)).Column("entry").Where("key = (?)", found)
}

// standing leaves out what is left of removed leads.
func standing(query *bun.SelectQuery) *bun.SelectQuery { return query.Where("removed_at IS NULL") }

func (l leads) Keyed(ctx context.Context, keys []int64) ([]store.KeyedLead, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	// What was imported together mostly is read together, and lies together: it is quicker to read all from the first to
	// the last, even if some of it was not asked for.
	sorted := slices.Compact(slices.Sorted(slices.Values(keys)))
	first, last := sorted[0], sorted[len(sorted)-1]
	if last-first >= int64(len(sorted)+len(sorted)/4) {
		list, err := l.engine.List(sorted)
		if err != nil {
			return nil, err
		}
		return l.entries(ctx, len(sorted), l.texts.leadsKeyed, list)
	}
	found, err := l.entries(ctx, len(sorted), l.texts.leadsBetween, first, last)
	return slices.DeleteFunc(found, func(one store.KeyedLead) bool {
		_, asked := slices.BinarySearch(sorted, one.Key)
		return !asked
	}), err
}

// entries reads the leads that one of the texts finds, about so many.
func (l leads) entries(ctx context.Context, about int, text string, args ...any) ([]store.KeyedLead, error) {
	found := make([]store.KeyedLead, 0, about)
	err := l.rows(ctx, func(rows *sql.Rows) error {
		var entry string
		if err := rows.Scan(&entry); err != nil {
			return err
		}
		one, err := currentForm.parse(entry)
		found = append(found, one)
		return err
	}, text, args...)
	return found, err
}

func (l leads) Standing(ctx context.Context, ids []id.Lead) (map[id.Lead]lead.Standing, error) {
	found := make(map[id.Lead]lead.Standing, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	texts := make([]string, len(ids))
	for i, which := range ids {
		texts[i] = string(which)
		if l.ledger != nil {
			l.ledger.keys[which] = 0
		}
	}
	list, err := l.engine.List(texts)
	if err != nil {
		return nil, err
	}
	var row leadRow
	labels, columns := newLabelReader(), row.standingColumns()
	err = l.rows(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		if l.ledger != nil {
			l.ledger.keys[row.ID] = row.Key
		}
		if row.RemovedAt != nil {
			found[row.ID] = lead.Standing{UpdatedAt: instant(row.UpdatedAt)}
			return nil
		}
		found[row.ID] = row.standing(labels.read(row.Labels))
		return nil
	}, l.texts.leadsStanding, list)
	return found, err
}
