package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// Leads compares entries with leads.
func (c checks) Leads(ctx context.Context, most int, nth int64, differs func(store.Difference)) (looked int64, err error) {
	w := comparison{session: c.session, differs: differs}
	if err := w.pairs(ctx); err != nil {
		return 0, err
	}
	step := int64(1)
	err = w.each(ctx, w.selectFrom("leads").ColumnExpr("coalesce(max(key), 0)"), func(rows *sql.Rows) error {
		var last int64
		err := rows.Scan(&last)
		if most > 0 {
			step = max(1, last/int64(most))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	labels := newLabelReader()
	query := w.raw(`SELECT leads.key, id, revision, updated_at, labels, rating, digest, created_at, moved_from, removed_at, hashes, entry
		FROM leads JOIN lead_entries ON lead_entries.key = leads.key
		WHERE removed_at IS NULL AND leads.key % ? = ? ORDER BY leads.key`, step, nth%step)
	err = w.each(ctx, query, func(rows *sql.Rows) error {
		var row leadRow
		var entry string
		if err := rows.Scan(append(row.columns(), &entry)...); err != nil {
			return err
		}
		looked++
		w.compareLead(row, labels.read(row.Labels), entry)
		return nil
	})
	return looked, err
}

// pairs looks for leads without an entry, and for entries without a lead. One that was removed has none.
func (a comparison) pairs(ctx context.Context) error {
	query := a.raw(`SELECT id, 'none', 'one' FROM leads
			WHERE removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM lead_entries WHERE lead_entries.key = leads.key)
		UNION ALL
		SELECT coalesce((SELECT id FROM leads WHERE leads.key = lead_entries.key), CAST(key AS TEXT)), 'one', 'none' FROM lead_entries
			WHERE NOT EXISTS (SELECT 1 FROM leads WHERE leads.key = lead_entries.key AND removed_at IS NULL) ORDER BY 1`)
	return a.each(ctx, query, func(rows *sql.Rows) error {
		found := store.Difference{Rule: "lead.entries"}
		if err := rows.Scan(&found.About, &found.Kept, &found.Should); err != nil {
			return err
		}
		a.differs(found)
		return nil
	})
}

// compareLead compares a lead with its entry. The content is what the digest says that it is, or is damaged. Then whatever else the entry
// and the row have follows from it, or from the row, and is derived anew.
func (a comparison) compareLead(row leadRow, by labels, entry string) {
	damaged := func(kept, should string) {
		a.differs(store.Difference{Rule: "lead.digest", About: string(row.ID), Kept: kept, Should: should})
	}
	found, err := currentForm.parse(entry, by.campaigns)
	if err != nil {
		damaged(err.Error(), "an entry")
		return
	}
	content, err := currentForm.decode(found.Exported.Document)
	if err != nil {
		damaged(err.Error(), "an entry")
		return
	}
	shown := content.Campaigns
	content.Industry, content.Vertical, content.Campaigns = found.Exported.Industry, found.Exported.Vertical, by.campaigns
	if digest := content.Digest(); digest != row.Digest {
		damaged(string(digest), string(row.Digest))
		return
	}
	content.CreatedAt, content.UpdatedAt = instant(row.CreatedAt), instant(row.UpdatedAt)
	right := lead.Stored{Lead: content, Digest: row.Digest, MovedFrom: optionalInstant(row.MovedFrom)}
	kept, should := shownEntry(found, shown), shownEntry(store.KeyedLead{
		Key: row.Key, Revision: lead.Revision(row.Revision),
		Exported: lead.Exported{Place: lead.Place{UpdatedAt: content.UpdatedAt, ID: content.ID}, MovedFrom: right.MovedFrom},
	}, content.Campaigns)
	rightRow := leadRowOf(right, row.Key, row.Revision)
	if !strings.HasSuffix(row.Hashes, string(row.Digest)) { // a program without them has written the lead
		row.Hashes = rightRow.Hashes
	}
	if kept == should {
		kept, should = fmt.Sprint(row.Labels, row.Rating, row.Hashes), fmt.Sprint(rightRow.Labels, rightRow.Rating, rightRow.Hashes)
	}
	if kept == should {
		return
	}
	a.differs(store.Difference{
		Rule: "lead.entry", About: string(row.ID), Kept: kept, Should: should,
		Mend: mend(func(ctx context.Context, in session) error {
			l := leads{in, in.clocks.process.Now()}
			if in.unit.revision == 0 {
				if _, err := l.Advance(ctx); err != nil { // for those who keep an index of leads
					return err
				}
			}
			now, err := l.Summaries(ctx, []id.Lead{right.ID})
			if err != nil || now[right.ID].Digest != right.Digest || !now[right.ID].UpdatedAt.Equal(right.UpdatedAt) {
				return err // it was changed meanwhile, and so encoded anew
			}
			return l.Keep(ctx, []lead.Stored{right})
		}),
	})
}

// shownEntry is what an entry has beside its document, and of that the campaigns.
func shownEntry(of store.KeyedLead, campaigns []id.Campaign) string {
	moved := "never"
	if !of.Exported.MovedFrom.IsZero() {
		moved = of.Exported.MovedFrom.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%s: %d, revision %d, %s, moved %s, in %v", of.Exported.Place.ID, of.Key, of.Revision,
		of.Exported.Place.UpdatedAt.Format(time.RFC3339Nano), moved, campaigns)
}
