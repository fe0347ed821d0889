package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/company"
	"holdco/domain/doctor"
	"holdco/domain/event"
	spelled "holdco/domain/instant"
	"holdco/ports/store"
)

// Activity compares the activity log with what was made, with its own order, and with an instant.
func (a audits) Activity(ctx context.Context, at time.Time, differs func(store.Difference)) error {
	w := audit{session: a.session, differs: differs}
	return all(ctx, w.entriesOfMaking, w.orderOfPlaces, func(ctx context.Context) error { return w.datesOfEntries(ctx, at) })
}

// made are the tables with rows of which each was made with an entry of its own, of which its id is the subject. Teams are not among them:
// those that a company starts with are in its entry.
var made = []struct {
	table string
	by    event.Type
}{
	{"companies", event.CompanyCreated},
	{"agents", event.AgentHired},
	{"issues", event.IssueCreated},
	{"goals", event.GoalCreated},
	{"projects", event.ProjectCreated},
	{"workflows", event.WorkflowCreated},
	{"approvals", event.ApprovalRequested},
	{"approval_rules", event.ApprovalRuleCreated},
	{"tokens", event.TokenCreated},
	{"webhooks", event.WebhookCreated},
	{"partners", event.PartnerCreated},
}

// entriesOfMaking looks for what has no entry that tells of its making, though the entries of what exists are never removed. What belongs
// to a company that is being removed may have lost them, and a webhook outlives its company.
func (a audit) entriesOfMaking(ctx context.Context) error {
	for _, one := range made {
		query := a.selectFrom(one.table).Column("id").Order("id").
			Where("NOT EXISTS (SELECT 1 FROM activity WHERE subject_id = ?.id AND type = ?)", bun.Ident(one.table), one.by)
		switch one.table {
		case "companies":
			query = query.Where("status <> ?", company.Deleting)
		case "tokens", "partners": // of no company
		default:
			gone := a.selectFrom("companies").Column("id").Where("status <> ?", company.Deleting)
			query = query.Where("company_id = '' OR company_id IN (?)", gone)
		}
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			var which string
			err := rows.Scan(&which)
			a.differs(store.Difference{Rule: "activity.made", About: which, Kept: "no entry", Should: "an entry " + string(one.by)})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// orderOfPlaces looks for entries whose places are not in the order in which they were chained, or that no transaction of this database
// has made: a stream that goes on after a place would miss them, or send them twice.
func (a audit) orderOfPlaces(ctx context.Context) error {
	_, next := a.engine.Horizon()
	query := a.raw(`SELECT id, before FROM (
			SELECT id, txid, seq, lag(id) OVER links AS before, lag(txid) OVER links AS txid_before, lag(seq) OVER links AS seq_before
			FROM audit_links JOIN activity ON activity.id = audit_links.entry_id
			WINDOW links AS (PARTITION BY audit_links.company_id ORDER BY number)
		) AS chained WHERE (txid_before, seq_before) > (txid, seq)
		UNION ALL
		SELECT id, '' FROM activity WHERE txid >= ? ORDER BY 1`, bun.Safe(next))
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which, before string
		err := rows.Scan(&which, &before)
		found := store.Difference{
			Rule: "activity.place", About: which, Kept: "a place before that of " + before, Should: "one after it, as they were chained",
		}
		if before == "" { // the log was moved: see Activity.Reorder
			found.Kept, found.Should = "a place of another database", "one of this, which the next start of a server gives it"
		}
		a.differs(found)
		return err
	})
}

// datesOfEntries looks for entries that are later than an instant. If the newest one is, the clock is wrong rather than the entries, and
// another check says so, once.
func (a audit) datesOfEntries(ctx context.Context, at time.Time) error {
	latest := at.Add(doctor.Ahead)
	query := a.selectFrom("activity").Column("id", "at").Where("at > ?", millis(latest)).Where("(?) <= ?", a.newest(), millis(latest)).
		Order("at", "id")
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which string
		var ms int64
		err := rows.Scan(&which, &ms)
		a.differs(store.Difference{
			Rule: "activity.at", About: which, Kept: spelled.Format(instant(ms)),
			Should: fmt.Sprint("before ", spelled.Format(latest)),
		})
		return err
	})
}

// newest finds when the last entry was made.
func (s session) newest() *bun.SelectQuery {
	return s.selectFrom("activity").Column("at").Order("txid DESC", "seq DESC").Limit(1)
}

func (a audits) Newest(ctx context.Context) (at time.Time, err error) {
	err = a.each(ctx, a.newest(), func(rows *sql.Rows) error {
		var ms int64
		err := rows.Scan(&ms)
		at = instant(ms)
		return err
	})
	return at, err
}
