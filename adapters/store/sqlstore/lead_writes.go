package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/lead"
)

func (l leads) Keep(ctx context.Context, kept []lead.Stored) error {
	revision, err := l.unit.advanced()
	if err != nil || len(kept) == 0 {
		return err
	}
	keys, last, err := l.keys(ctx, kept)
	if err != nil {
		return err
	}
	var added, replaced keyedLeads
	for i, one := range kept {
		to := &replaced
		if keys[i] > last {
			to = &added
		}
		*to = append(*to, keyedLead{one, keys[i], revision})
	}
	l.unit.changed = true // what follows does not go through change
	if err := l.insert(ctx, added); err != nil {
		return l.failure(ctx, err)
	}
	return l.overwrite(ctx, replaced)
}

// keyedLead is a lead that is to be written with a key, in a revision.
type keyedLead struct {
	lead.Stored

	key, revision int64
}

type keyedLeads []keyedLead

// rows yields the arguments for rows of leads.
func (k keyedLeads) rows(yield func([]any) bool) {
	for _, one := range k {
		row := leadRowOf(one.Stored, one.key, one.revision)
		if !yield(arguments(row.columns())) {
			return
		}
	}
}

// documents yields the arguments for rows of as many documents.
func (k keyedLeads) documents(yield func([]any) bool) {
	for _, one := range k {
		row := currentForm.rowOf(one.Stored, one.key, one.revision)
		if !yield(arguments(row.columns())) {
			return
		}
	}
}

func (l leads) insert(ctx context.Context, added keyedLeads) error {
	if len(added) == 0 {
		return nil
	}
	db := l.engine.DB()
	if err := l.engine.InsertRows(ctx, l.conn, "leads", columnNames(db, new(leadRow)), added.rows); err != nil {
		return err
	}
	return l.engine.InsertRows(ctx, l.conn, "lead_entries", columnNames(db, new(leadDocumentRow)), added.documents)
}

// overwrite replaces rows. A lead that was removed has no document: that is inserted.
func (l leads) overwrite(ctx context.Context, replaced keyedLeads) error {
	if err := l.runRows(ctx, replaceLeads, slices.Collect(replaced.rows)); err != nil {
		return err
	}
	return l.runRows(ctx, replaceLeadDocuments, slices.Collect(replaced.documents))
}

var (
	replaceLeads         = prepare(func(b builder) fmt.Stringer { return b.replacesKeyed("leads", new(leadRow)) })
	replaceLeadDocuments = prepare(func(b builder) fmt.Stringer { return b.replacesKeyed("lead_entries", new(leadDocumentRow)) })
	lastLeadKey          = prepare(func(b builder) fmt.Stringer {
		return b.selects((*leadRow)(nil)).ColumnExpr("coalesce(max(key), 0)").Where("key > ?", b.arg(1))
	})
)

// keys returns the keys of leads: those that they have, or had before they were removed, and the next ones after the last for
// new leads. The lock of Advance keeps other units from assigning keys meanwhile.
func (l leads) keys(ctx context.Context, kept []lead.Stored) (keys []int64, last int64, err error) {
	var unseen []id.Lead
	for _, one := range kept {
		if _, seen := l.unit.keys[one.ID]; !seen {
			unseen = append(unseen, one.ID)
		}
	}
	if _, err := l.Summaries(ctx, unseen); err != nil {
		return nil, 0, err
	}
	if err := l.row(ctx, []any{&last}, nil, lastLeadKey, 0); err != nil {
		return nil, 0, err
	}
	keys, next := make([]int64, len(kept)), last
	for i, one := range kept {
		if keys[i] = l.unit.keys[one.ID]; keys[i] == 0 {
			next++
			keys[i], l.unit.keys[one.ID] = next, next
		}
	}
	return keys, last, nil
}

// replacesKeyed inserts rows, or replaces those with the same keys. It leaves out the id, which never changes: to name it would
// cost a write to its index.
func (b builder) replacesKeyed(table string, row modelRow) sqlText {
	columns := columnNames(b.db(), row)
	var changes []string
	for _, column := range columns {
		if column != "key" && column != "id" {
			changes = append(changes, column+" = excluded."+column)
		}
	}
	return sqlText(fmt.Sprintf("INSERT INTO %s (%s) %s ON CONFLICT (key) DO UPDATE SET %s",
		table, strings.Join(columns, ", "), b.engine.Rows(arguments(row.columns())), strings.Join(changes, ", ")))
}

func (l leads) Remove(ctx context.Context, ids []id.Lead, at time.Time) ([]lead.Summary, error) {
	revision, err := l.unit.advanced()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := l.Summaries(ctx, ids)
	if err != nil {
		return nil, err
	}
	removed, keys := make([]lead.Summary, 0, len(found)), make([]int64, 0, len(found))
	for _, which := range ids {
		if one := found[which]; one.ID != "" {
			delete(found, which) // an id can be given twice
			removed, keys = append(removed, one), append(keys, l.unit.keys[which])
		}
	}
	if len(removed) == 0 {
		return nil, nil
	}
	if _, err := l.change(ctx, l.deletes((*leadDocumentRow)(nil)).Where("key IN (?)", bun.List(keys))); err != nil {
		return nil, err
	}
	_, err = l.change(ctx, l.updates((*leadRow)(nil)).
		Set("revision = ?", revision).Set("removed_at = ?", millis(at)).
		Set("updated_at = CASE WHEN ? - updated_at < ? THEN coalesce(moved_from, updated_at) ELSE updated_at END",
			millis(at), lead.ResumeWindow.Milliseconds()).
		Set("rating = ?, digest = '', hashes = '', created_at = 0, moved_from = NULL", lead.Unrated).
		Where("key IN (?)", bun.List(keys)))
	return removed, err
}
