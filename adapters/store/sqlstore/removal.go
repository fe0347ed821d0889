package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// ownedTable is a table with rows of companies.
type ownedTable struct {
	table string
	blank string // what to set instead of removing the row; it must clear company_id
	kept  string // a condition for the rows that stay until webhooks have sent them; empty: none
	aged  bool   // it has an index on company_id, at and id, and is looked at by that: many of its rows may be kept
}

// owned are all such tables. Rows that refer to others come first.
var owned = []ownedTable{
	{table: "slots"},
	{table: "teams"},
	{table: "agents"},
	{table: "run_checkpoints"},
	{table: "cost_entries"},
	{table: "runs"},
	{table: "envelopes"},
	{table: "revocations"},
	{table: "approval_comments"},
	{table: "approvals"},
	{table: "approval_rules"},
	{table: "issue_labels"},
	{table: "issue_blockers"},
	{table: "issue_comments"},
	{table: "issues"},
	{table: "tallies"},
	{table: "day_tallies"},
	{table: "issue_numbers"},
	{table: "work_revisions"},
	{table: "settlements"},
	{table: "projects"},
	{table: "goals"},
	{table: "workflow_versions"},
	{table: "workflows"},
	{table: "secret_values"},
	{table: "secrets"},
	{table: "deliveries", kept: isPending},
	{table: "audit_heads"},
	{table: "audit_stubs"},
	{table: "audit_links"},
	{table: "activity", kept: isAwaited, aged: true},
	{table: "cost_hours"},
	{table: "cost_days"},
	{table: "cost_months"},
	{table: "cost_totals"},
	{table: "receipts", blank: "answer = '', company_id = ''"},
}

// isPending is true of a delivery that will be attempted again. One whose endpoint is gone will not.
const isPending = "deliveries.status = 'pending' AND EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = deliveries.webhook_id)"

// isAwaited is true of an event that has still to be sent: it has no position in the outbox yet, or a queue has not
// passed its position, or a pending delivery carries it. The comparison with the least cursor rules out nearly all events
// before the queues are read. Their ids are compared so that Postgres finds the queues by an index: it takes reading a table
// without one for so dear that it would no longer distinguish plans for the rest.
const isAwaited = `activity.unqueued = 1
	OR activity.position >= (SELECT min(cursor) FROM queues WHERE webhook_id > '') AND EXISTS (
		SELECT 1 FROM queues WHERE webhook_id > '' AND activity.position >= queues.cursor
			AND (queues.skip_after IS NULL OR activity.position <= queues.skip_after OR activity.position > queues.skip_to))
	OR EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event_id = activity.id AND ` + isPending + `)`

// rowsAtATime are few enough that none of the tables takes long for them.
const rowsAtATime = 100

func (c companies) Empty(ctx context.Context, which id.Company, some store.Emptying) (reached int, done bool, err error) {
	left := some.Most
	for at := some.From; at < len(owned); at++ {
		for {
			most := min(left, rowsAtATime)
			oldest, err := c.oldest(ctx, owned[at], which)
			if err != nil {
				return at, false, err
			}
			rows, err := c.change(ctx, c.emptying(owned[at], which, oldest, most))
			if err != nil {
				return at, false, err
			}
			if left -= rows; left == 0 || rows > 0 && some.Enough != nil && some.Enough() {
				done, err := c.isEmpty(ctx, which, owned[at:])
				return at, done, err
			}
			if rows < most {
				break
			}
		}
	}
	return len(owned), true, nil
}

// oldest is what a statement looks at of the rows of a company in a table: a portion if that is aged, and else all.
func (c companies) oldest(ctx context.Context, of ownedTable, which id.Company) (portion, error) {
	if !of.aged {
		return portion{}, nil
	}
	return c.portionOf(ctx, of.table, which, place{}, rowsAtATime)
}

// emptying removes some rows of a company from a portion of a table, or blanks them.
func (c companies) emptying(of ownedTable, which id.Company, some portion, most int) *bun.RawQuery {
	write := "DELETE FROM " + of.table
	if of.blank != "" {
		write = "UPDATE " + of.table + " SET " + of.blank
	}
	return c.writesSome(write, some.within(c.rowsOf(of.table, of.kept, which)), most)
}

// place is where a row stands among those of a company in an aged table, by when it was made; zero: before the first.
type place struct {
	at int64
	id string
}

// portion is the rows of a company in an aged table that come after one place, up to another; zero: the end.
type portion struct{ after, until place }

func (p portion) within(query *bun.SelectQuery) *bun.SelectQuery {
	if p.after != (place{}) {
		query = query.Where("(at, id) > (?, ?)", p.after.at, p.after.id)
	}
	if p.until != (place{}) {
		query = query.Where("(at, id) <= (?, ?)", p.until.at, p.until.id)
	}
	return query
}

// portionOf is the next most rows of a company in an aged table after a place.
func (s session) portionOf(ctx context.Context, table string, which id.Company, after place, most int) (portion, error) {
	next := portion{after: after}
	var last []struct {
		At int64
		ID string
	}
	err := s.scan(ctx, next.within(s.rowsOf(table, "", which)).Column("at", "id").OrderExpr("at, id LIMIT 1 OFFSET ?", most-1), &last)
	if err == nil && len(last) == 1 {
		next.until = place{last[0].At, last[0].ID}
	}
	return next, err
}

// writesSome is a write to some of the rows that a query finds in a table.
func (s session) writesSome(write string, found *bun.SelectQuery, most int) *bun.RawQuery {
	return s.engine.DB().NewRaw("? WHERE ?", bun.Safe(write), s.engine.AtPlaceOf(found.Limit(int64(most)))).Conn(s.conn)
}

// isEmpty reports whether none of some tables has a row of a company that is to be removed: of an aged table, in its oldest portion.
func (c companies) isEmpty(ctx context.Context, which id.Company, tables []ownedTable) (bool, error) {
	for _, of := range tables {
		oldest, err := c.oldest(ctx, of, which)
		if err != nil {
			return false, err
		}
		if exists, err := c.exists(ctx, oldest.within(c.rowsOf(of.table, of.kept, which))); err != nil || exists {
			return false, err
		}
	}
	return true, nil
}

// rowsOf finds the rows of a company in a table, without those that are kept.
func (s session) rowsOf(table, kept string, which id.Company) *bun.SelectQuery {
	// Some indexes are partial, without the rows of no company: company_id <> '' lets the engine use them.
	query := s.selectFrom(table).Where("company_id = ? AND company_id <> ''", which)
	if kept != "" {
		query = query.Where("(?) IS NOT TRUE", bun.Safe(kept))
	}
	return query
}

func (s session) exists(ctx context.Context, query *bun.SelectQuery) (bool, error) {
	var some []int
	err := s.scan(ctx, query.ColumnExpr("1").Limit(1), &some)
	return len(some) > 0, err
}

// visible filters out the rows of removed companies.
func visible(query *bun.SelectQuery) *bun.SelectQuery {
	return query.Where("NOT EXISTS (SELECT 1 FROM removed_companies WHERE removed_companies.company_id = ?TableAlias.company_id)")
}

// removals implements store.Removals.
type removals struct{ session }

func (r removals) begin(ctx context.Context, which id.Company) error {
	_, err := r.exec(ctx, r.inserts(&removalRow{Company: which}))
	return err
}

func (r removals) Due(ctx context.Context, at time.Time, most int) ([]store.Removal, error) {
	var rows []removalRow
	removedAt := lastEventOf(r.session, "removal_row.company_id").Column("at")
	err := r.all(ctx, r.selects(&rows).Column("company_id").ColumnExpr("coalesce((?), ?) AS removed_at", removedAt, millis(at)).
		Where("check_at <= ?", millis(at)).Order("check_at", "company_id").Limit(int64(most)))
	found := make([]store.Removal, len(rows))
	for i, row := range rows {
		found[i] = store.Removal{Company: row.Company, RemovedAt: instant(row.RemovedAt)}
	}
	return found, err
}

// lastEventOf finds the event company.deleted of a company: it belongs to no company, but is about this one.
func lastEventOf(s session, company string) *bun.SelectQuery {
	return s.engine.DB().NewSelect().Table("activity").
		Where("activity.type = ?", event.CompanyDeleted).Where("activity.subject_id = " + company)
}

func (r removals) Purge(
	ctx context.Context, which id.Company, before time.Time, after page.Position, most int,
) (reached page.Position, more, left bool, err error) {
	var from place
	if after.IsStart() { // this looks at every delivery that is pending
		rows, err := r.exec(ctx, r.writesSome("DELETE FROM deliveries", r.rowsOf("deliveries", isPending, which), most))
		if err != nil || rows == most {
			return after, true, true, err
		}
	} else {
		if from.at, err = positionTime(after); err != nil {
			return after, true, true, err
		}
		from.id = after.ID
	}
	some, err := r.portionOf(ctx, "activity", which, from, most)
	if err != nil {
		return after, true, true, err
	}
	unsent := fmt.Sprintf("activity.at >= %d AND (%s)", millis(before), isAwaited)
	events := some.within(r.rowsOf("activity", unsent, which))
	if _, err := r.exec(ctx, r.writesSome("DELETE FROM activity", events, most)); err != nil {
		return after, true, true, err
	}
	if some.until != (place{}) {
		return rowPosition(some.until.at, some.until.id), true, true, nil
	}
	for _, table := range []string{"deliveries", "activity", "webhooks"} {
		if left, err = r.exists(ctx, r.rowsOf(table, "", which)); err != nil || left {
			break
		}
	}
	return page.Position{}, false, left, err
}

func (r removals) Finished(ctx context.Context, which id.Company) ([]webhook.Endpoint, error) {
	last := lastEventOf(r.session, "webhooks.company_id").Column("seq").
		Where("activity.unqueued = 1 OR activity.position >= (SELECT cursor FROM queues WHERE webhook_id = webhooks.id)")
	pending := r.engine.DB().NewSelect().Table("deliveries").Column("seq").
		Where("deliveries.webhook_id = webhooks.id").Where("deliveries.status = 'pending'")
	removed := r.engine.DB().NewSelect().Table("removed_companies").Column("company_id").Where("company_id = ?", which)
	return readAll(ctx, r.session, endpointTable, selectRows(r.session, endpointTable).
		Where("company_id IN (?) AND company_id <> ''", removed).
		Where("NOT EXISTS (?)", last).Where("NOT EXISTS (?)", pending).Order(createdAt, "id"))
}

func (r removals) Postpone(ctx context.Context, which id.Company, until time.Time) error {
	_, err := r.exec(ctx, r.updates((*removalRow)(nil)).Set("check_at = ?", millis(until)).Where("company_id = ?", which))
	return err
}

func (r removals) Close(ctx context.Context, which id.Company) error {
	_, err := r.exec(ctx, r.deletes((*removalRow)(nil)).Where("company_id = ?", which))
	return err
}

type removalRow struct {
	bun.BaseModel `bun:"table:removed_companies"`

	Company   id.Company `bun:"company_id,pk"`
	CheckAt   int64      `bun:"check_at"`
	RemovedAt int64      `bun:"removed_at,scanonly"`
}
