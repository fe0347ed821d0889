package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/company"
	"holdco/domain/doctor"
	"holdco/domain/event"
	spelled "holdco/domain/instant"
	"holdco/domain/retention"
	"holdco/ports/store"
)

// Activity compares the activity log with what was made, with its own order, and with an instant.
func (c checks) Activity(ctx context.Context, at time.Time, differs func(store.Difference)) error {
	w := comparison{session: c.session, differs: differs}
	return all(ctx, w.entriesOfMaking, w.orderOfPlaces, func(ctx context.Context) error { return w.datesOfEntries(ctx, at) })
}

// making are the verbs of entries that tell of the making of something, each of one thing, of which its id is the subject.
var making = []string{".created", ".hired", ".requested"}

// madeBy returns the table whose rows are made with entries of a type, each with one of its own: that of companies with company.created,
// that of approval_rules with approval.rule.created. There is none of teams, for those that a company starts with are in its entry, and
// none of secrets, whose entries are about their names.
func madeBy(of event.Type) (table string, isAny bool) {
	switch of {
	case event.TeamCreated, event.SecretCreated:
		return "", false
	case event.CompanyCreated:
		return "companies", true
	}
	for _, verb := range making {
		if kind, isIt := strings.CutSuffix(string(of), verb); isIt {
			return strings.ReplaceAll(kind, ".", "_") + "s", true
		}
	}
	return "", false
}

// entriesOfMaking looks for what has no entry that tells of its making. What belongs to a company that is being removed may have lost it,
// and a webhook outlives its company. Retention may have removed the entry too: then a stub stands in the chain, made when the entry was
// older than the least time for which entries are kept.
func (a comparison) entriesOfMaking(ctx context.Context) error {
	for _, by := range event.Types() {
		table, isAny := madeBy(by)
		if !isAny {
			continue
		}
		query := a.selectFrom(table).Column("id").Order("id").
			Where("NOT EXISTS (SELECT 1 FROM activity WHERE subject_id = ?.id AND type = ?)", bun.Ident(table), by)
		chain := bun.Safe(table + ".company_id")
		isOwned := slices.ContainsFunc(owned, func(one ownedTable) bool { return one.table == table })
		switch {
		case by == event.CompanyCreated:
			query = query.Where("status <> ?", company.Deleting)
			chain = bun.Safe(table + ".id")
		case isOwned, by == event.WebhookCreated:
			stay := a.selectFrom("companies").Column("id").Where("status <> ?", company.Deleting)
			query = query.Where("company_id = '' OR company_id IN (?)", stay)
		default:
			chain = "''"
		}
		least := int64(retention.LeastDays(retention.Activity)) * (24 * time.Hour).Milliseconds()
		stubs := a.selectFrom("audit_stubs").Column("chain").Where("made_at - ? > ?.created_at", least, bun.Ident(table))
		query = query.Where("? NOT IN (?)", chain, stubs)
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			var which string
			if err := rows.Scan(&which); err != nil {
				return err
			}
			a.differs(store.Difference{Rule: "activity.made", About: which, Kept: "no entry", Should: "an entry " + string(by)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// orderOfPlaces looks for entries whose places are not in the order in which they were chained, or that no transaction of this database
// has made: a stream that goes on after a place would miss them, or send them twice.
func (a comparison) orderOfPlaces(ctx context.Context) error {
	_, next := a.engine.Horizon()
	query := a.raw(`SELECT id, before FROM (
			SELECT id, txid, seq, lag(id) OVER links AS before, lag(txid) OVER links AS txid_before, lag(seq) OVER links AS seq_before
			FROM audit_links JOIN activity ON activity.id = audit_links.entry_id
			WINDOW links AS (PARTITION BY audit_links.company_id ORDER BY number)
		) AS chained WHERE (txid_before, seq_before) > (txid, seq)
		UNION ALL
		SELECT max(id), '' FROM activity WHERE txid >= ? HAVING count(*) > 0 ORDER BY 1`, bun.Safe(next))
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which, before string
		if err := rows.Scan(&which, &before); err != nil {
			return err
		}
		found := store.Difference{
			Rule: "activity.place", About: which, Kept: "a place before that of " + before, Should: "one after it, as they were chained",
		}
		if before == "" { // the log was moved: see Activity.Reorder
			found.Kept, found.Should, found.IsMild = "a place of another database", "one of this", true
			found.Text = "the activity log has the places of another database, as after a move; the next start of a server gives it others"
		}
		a.differs(found)
		return nil
	})
}

// datesOfEntries looks for entries that are later than an instant. If the newest one is, the clock is wrong rather than the entries, and
// another check says so, once.
func (a comparison) datesOfEntries(ctx context.Context, at time.Time) error {
	latest := at.Add(doctor.Ahead)
	query := a.selectFrom("activity").Column("id", "at").Where("at > ?", millis(latest)).Where("(?) <= ?", a.newest(), millis(latest)).
		Order("at", "id")
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which string
		var ms int64
		if err := rows.Scan(&which, &ms); err != nil {
			return err
		}
		a.differs(store.Difference{
			Rule: "activity.at", About: which, Kept: spelled.Format(instant(ms)),
			Should: fmt.Sprint("before ", spelled.Format(latest)),
		})
		return nil
	})
}

// newest finds when the last entry was made.
func (s session) newest() *bun.SelectQuery {
	return s.selectFrom("activity").Column("at").Order("txid DESC", "seq DESC").Limit(1)
}

func (c checks) Newest(ctx context.Context) (at time.Time, err error) {
	err = c.each(ctx, c.newest(), func(rows *sql.Rows) error {
		var ms int64
		err := rows.Scan(&ms)
		at = instant(ms)
		return err
	})
	return at, err
}
