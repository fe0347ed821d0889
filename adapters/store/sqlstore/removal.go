package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// owned are the tables with rows of a company. Rows that refer to others come first.
var owned = []struct {
	table string
	key   string // its primary key
	blank string // what to set instead of removing the row; it must clear company_id
	kept  string // a condition for the rows that stay until webhooks have sent them; empty: none
}{
	{table: "slots", key: "id"},
	{table: "teams", key: "id"},
	{table: "agents", key: "id"},
	{table: "run_checkpoints", key: "run_id, number"},
	{table: "cost_entries", key: "id"},
	{table: "runs", key: "id"},
	{table: "revocations", key: "company_id, epoch"},
	{table: "issue_labels", key: "issue_id, label"},
	{table: "issue_blockers", key: "issue_id, blocker_id"},
	{table: "issue_comments", key: "id"},
	{table: "issues", key: "id"},
	{table: "tallies", key: "company_id, scope, scope_id, status"},
	{table: "day_tallies", key: "company_id, day, what"},
	{table: "issue_numbers", key: "company_id"},
	{table: "work_revisions", key: "company_id"},
	{table: "settlements", key: "id"},
	{table: "deliveries", key: "seq", kept: isPending},
	{table: "activity", key: "seq", kept: isAwaited},
	{table: "receipts", key: "token_id, key", blank: "answer = '', company_id = ''"},
}

// isPending is true of a delivery that will be attempted again. One whose endpoint is gone will not.
const isPending = "deliveries.status = 'pending' AND EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = deliveries.webhook_id)"

// isAwaited is true of an event that has still to be sent: it has no position in the outbox yet, or a queue has not
// passed its position, or a pending delivery carries it. The comparison with the least cursor rules out nearly all events
// before the queues are read.
const isAwaited = `activity.unqueued = 1
	OR activity.position >= (SELECT min(cursor) FROM queues) AND EXISTS (
		SELECT 1 FROM queues WHERE activity.position >= queues.cursor
			AND (queues.skip_after IS NULL OR activity.position <= queues.skip_after OR activity.position > queues.skip_to))
	OR EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event_id = activity.id AND ` + isPending + `)`

func (c companies) Empty(ctx context.Context, which id.Company, most int) (done bool, err error) {
	left := most
	for _, of := range owned {
		some := c.rowsOf(of.table, of.kept, which).ColumnExpr(of.key).Limit(int64(left))
		var write statement
		if of.blank == "" {
			write = c.engine.DB().NewDelete().Conn(c.conn).Table(of.table).Where("(?) IN (?)", bun.Safe(of.key), some)
		} else {
			write = c.engine.DB().NewUpdate().Conn(c.conn).Table(of.table).Set(of.blank).Where("(?) IN (?)", bun.Safe(of.key), some)
		}
		rows, err := c.change(ctx, write)
		if err != nil {
			return false, err
		}
		if left -= rows; left == 0 {
			return c.isEmpty(ctx, which)
		}
	}
	return true, nil
}

func (c companies) isEmpty(ctx context.Context, which id.Company) (bool, error) {
	for _, of := range owned {
		if exists, err := c.exists(ctx, c.rowsOf(of.table, of.kept, which)); err != nil || exists {
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

func (r removals) Purge(ctx context.Context, which id.Company, before time.Time, most int) (left bool, err error) {
	deliveries := r.rowsOf("deliveries", isPending, which)
	events := r.rowsOf("activity", fmt.Sprintf("activity.at >= %d AND (%s)", millis(before), isAwaited), which)
	for _, purged := range []struct {
		table string
		some  *bun.SelectQuery
	}{{"deliveries", deliveries}, {"activity", events}} {
		write := r.engine.DB().NewDelete().Conn(r.conn).Table(purged.table).
			Where("seq IN (?)", purged.some.Column("seq").Limit(int64(most)))
		if _, err := r.exec(ctx, write); err != nil {
			return true, err
		}
	}
	for _, table := range []string{"deliveries", "activity", "webhooks"} {
		if left, err = r.exists(ctx, r.rowsOf(table, "", which)); err != nil || left {
			return left, err
		}
	}
	return false, nil
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
