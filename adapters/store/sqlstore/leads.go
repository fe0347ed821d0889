package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// leads implements store.Leads. Its now is zero outside of a unit.
type leads struct {
	session
	now time.Time
}

func (l leads) Get(ctx context.Context, which id.Lead) (lead.Exported, error) {
	var text, labels string
	if err := l.row(ctx, []any{&text, &labels}, lead.ErrMissing, leadByID, string(which)); err != nil {
		return lead.Exported{}, err
	}
	found, err := currentForm.parse(text, newLabelReader().read(labels).campaigns)
	return found.Exported, err
}

var leadByID = prepare(func(b builder) fmt.Stringer {
	found := notRemoved(b.selects((*leadRow)(nil))).Column("key", "labels").Where("id = ?", b.arg(1))
	return b.leadDocuments().ColumnExpr("found.labels").Join("JOIN (?) AS found USING (key)", found)
})

// leadDocuments begins a query of the documents of leads.
func (b builder) leadDocuments() *bun.SelectQuery {
	return b.selects((*leadDocumentRow)(nil)).Column("entry")
}

// notRemoved filters out removed leads.
func notRemoved(query *bun.SelectQuery) *bun.SelectQuery { return query.Where("removed_at IS NULL") }

var (
	leadsByKey      = prepare(func(b builder) fmt.Stringer { return b.engine.InList(b.leadDocuments(), "key") })
	leadsWithLabels = prepare(func(b builder) fmt.Stringer {
		return b.engine.InList(b.leadDocuments().ColumnExpr("leads.labels").Join("JOIN leads ON leads.key = ?TableAlias.key"), "key")
	})
	leadsBetween = prepare(func(b builder) fmt.Stringer {
		return b.leadDocuments().Where("key BETWEEN ? AND ?", b.arg(1), b.arg(2))
	})
)

func (l leads) Keyed(ctx context.Context, keys []int64) ([]store.KeyedLead, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	// Leads that were imported together are mostly read together, and have adjacent keys: if most of a range is wanted, it is
	// faster to read the whole range.
	sorted := slices.Compact(slices.Sorted(slices.Values(keys)))
	first, last := sorted[0], sorted[len(sorted)-1]
	if last-first >= int64(len(sorted)+len(sorted)/4) {
		list, err := l.engine.List(sorted)
		if err != nil {
			return nil, err
		}
		return l.documents(ctx, sorted, leadsByKey, list)
	}
	found, err := l.documents(ctx, sorted, leadsBetween, first, last)
	return slices.DeleteFunc(found, func(one store.KeyedLead) bool {
		_, asked := slices.BinarySearch(sorted, one.Key)
		return !asked
	}), err
}

// documents reads the leads with these keys, and perhaps others, which a prepared statement finds. Of documents that have no campaigns
// the leads are read again with their labels: by one statement, so that a change in between cannot mix two states of a lead.
func (l leads) documents(ctx context.Context, keys []int64, statement *prepared, args ...any) ([]store.KeyedLead, error) {
	found, lacking := make([]store.KeyedLead, 0, len(keys)), []int64(nil)
	err := l.rows(ctx, func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		one, err := currentForm.parse(text, nil)
		if hasCampaigns(text) {
			found = append(found, one)
		} else {
			lacking = append(lacking, one.Key)
		}
		return err
	}, statement, args...)
	if err != nil || len(lacking) == 0 {
		return found, err
	}
	list, err := l.engine.List(lacking)
	if err != nil {
		return nil, err
	}
	labels := newLabelReader()
	err = l.rows(ctx, func(rows *sql.Rows) error {
		one, err := labels.lead(rows)
		found = append(found, one)
		return err
	}, leadsWithLabels, list)
	return found, err
}

// leadSizes finds the sizes of documents. Neither engine reads a document for octet_length.
var leadSizes = prepare(func(b builder) fmt.Stringer {
	return b.engine.InList(b.selects((*leadDocumentRow)(nil)).ColumnExpr("?TableAlias.key, octet_length(entry)"), "key")
})

func (l leads) KeyedSizes(ctx context.Context, keys []int64) (map[int64]int64, error) {
	found := make(map[int64]int64, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	list, err := l.engine.List(slices.Compact(slices.Sorted(slices.Values(keys))))
	if err != nil {
		return nil, err
	}
	err = l.rows(ctx, func(rows *sql.Rows) error {
		var key, size int64
		err := rows.Scan(&key, &size)
		found[key] = size
		return err
	}, leadSizes, list)
	return found, err
}

var leadSummaries = prepare(func(b builder) fmt.Stringer {
	return b.engine.InList(b.selects((*leadRow)(nil)).Column(summaryColumns()...), "id")
})

func (l leads) Summaries(ctx context.Context, ids []id.Lead) (map[id.Lead]lead.Summary, error) {
	found := make(map[id.Lead]lead.Summary, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	list := make([]string, len(ids))
	for i, which := range ids {
		list[i] = string(which)
		if l.unit != nil {
			l.unit.keys[which] = 0
		}
	}
	arg, err := l.engine.List(list)
	if err != nil {
		return nil, err
	}
	var row leadRow
	labels, columns := newLabelReader(), row.summaryColumns()
	err = l.rows(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		if l.unit != nil {
			l.unit.keys[row.ID] = row.Key
		}
		if row.RemovedAt != nil {
			found[row.ID] = lead.Summary{UpdatedAt: instant(row.UpdatedAt)}
			return nil
		}
		found[row.ID] = row.summary(labels.read(row.Labels))
		return nil
	}, leadSummaries, arg)
	return found, err
}

var leadContents = prepare(func(b builder) fmt.Stringer {
	return b.engine.InList(b.selects((*leadRow)(nil)).ColumnExpr("labels, entry").
		Join("JOIN lead_entries ON lead_entries.key = ?TableAlias.key"), "id")
})

func (l leads) Contents(ctx context.Context, ids []id.Lead) (map[id.Lead]lead.Lead, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list := make([]string, len(ids))
	for i, which := range ids {
		list[i] = string(which)
	}
	arg, err := l.engine.List(list)
	if err != nil {
		return nil, err
	}
	found, labels := make(map[id.Lead]lead.Lead, len(ids)), newLabelReader()
	err = l.rows(ctx, func(rows *sql.Rows) error {
		var by, entry string
		if err := rows.Scan(&by, &entry); err != nil {
			return err
		}
		one, err := currentForm.content(entry, labels.read(by))
		found[one.ID] = one
		return err
	}, leadContents, arg)
	return found, err
}
