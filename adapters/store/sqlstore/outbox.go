package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// outbox implements store.Outbox. Its now is zero outside of a unit.
type outbox struct {
	session
	now time.Time
}

func (o outbox) Work(ctx context.Context, at time.Time) (store.Work, error) {
	var work store.Work
	err := o.row(ctx, []any{&work.Unqueued, &work.Due}, nil, outboxWork, millis(at))
	return work, err
}

var outboxWork = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().ColumnExpr("EXISTS (?), EXISTS (?)",
		unqueued(b.selects((*entryRow)(nil))).ColumnExpr("1"),
		claimable(b.selects((*queueRow)(nil)), b.arg(1)).ColumnExpr("1"))
})

// unqueued finds the events without a position, by an index that holds no others.
func unqueued(query *bun.SelectQuery) *bun.SelectQuery { return query.Where("unqueued = 1") }

// claimable finds the queues that are due and not leased at an instant.
func claimable(query *bun.SelectQuery, at any) *bun.SelectQuery {
	return query.Where("due_at <= ?", at).Where("held = 0").Where("lease = '' OR leased_until <= ?", at).
		Where("EXISTS (SELECT 1 FROM webhooks WHERE id = webhook_id AND enabled = 1)")
}

func (o outbox) Next(ctx context.Context, endpoint id.Webhook, from int64, most int) ([]store.Queued, error) {
	return o.queued(ctx, outboxNext, string(endpoint), from, most)
}

// outboxNext finds the events from a position on that the queue of an endpoint does not skip. The skipped range
// can be as large as the outbox, so two queries find what comes before and after it, each by a range of the index.
var outboxNext = prepare(func(b builder) fmt.Stringer {
	endpoint, from, most := b.engine.Placeholder(1), b.engine.Placeholder(2), b.engine.Placeholder(3)
	bound := func(column string) string {
		return "(SELECT " + column + " FROM queues WHERE webhook_id = " + endpoint + ")"
	}
	before, after := aroundSkip(from, bound("skip_after"), bound("skip_to"))
	first := func(positions string) *bun.SelectQuery {
		return b.selects((*entryRow)(nil)).Column("seq").Where(positions).OrderExpr("position LIMIT " + most)
	}
	return b.selects((*entryRow)(nil)).ColumnExpr("?TableColumns, position").
		Where("seq IN (SELECT seq FROM (?) AS before_skip UNION ALL SELECT seq FROM (?) AS after_skip)", first(before), first(after)).
		OrderExpr("position LIMIT " + most)
})

// aroundSkip are conditions for the positions from one on: those up to skipAfter, or all if that is NULL, and those that
// come after skipTo, or none if that is NULL. All are expressions of SQL.
func aroundSkip(from, skipAfter, skipTo string) (before, after string) {
	const never = "9223372036854775807"
	before = fmt.Sprintf("position >= %s AND position <= coalesce(%s, %s)", from, skipAfter, never)
	after = fmt.Sprintf("position >= CASE WHEN %[2]s IS NULL THEN %[3]s WHEN %[2]s >= %[1]s THEN %[2]s + 1 ELSE %[1]s END",
		from, skipTo, never)
	return before, after
}

var outboxEvents = prepare(func(b builder) fmt.Stringer {
	return b.engine.InList(b.selects((*entryRow)(nil)).ColumnExpr("?TableColumns, position"), "id")
})

func (o outbox) Events(ctx context.Context, which []id.Entry) ([]store.Queued, error) {
	ids := make([]string, len(which))
	for i, entry := range which {
		ids[i] = string(entry)
	}
	list, err := o.engine.List(ids)
	if err != nil {
		return nil, err
	}
	return o.queued(ctx, outboxEvents, list)
}

// queued reads the events that a prepared statement finds, with their positions.
func (o outbox) queued(ctx context.Context, statement *prepared, args ...any) ([]store.Queued, error) {
	var found []store.Queued
	err := o.rows(ctx, func(rows *sql.Rows) error {
		var row entryRow
		var position *int64
		if err := rows.Scan(append(row.columns(), &position)...); err != nil {
			return err
		}
		happened, err := row.value()
		found = append(found, store.Queued{Event: happened, Position: orZero(position)})
		return err
	}, statement, args...)
	return found, err
}

func (o outbox) Backlog(ctx context.Context) (store.Backlog, error) {
	var backlog store.Backlog
	var dueSince *int64
	query := o.engine.DB().NewSelect().Conn(o.conn).
		ColumnExpr("(?)", unqueued(o.selects((*entryRow)(nil))).ColumnExpr("count(*)")).
		ColumnExpr("(?)", o.selects((*deliveryRow)(nil)).ColumnExpr("count(*)").
			Where("status = ?", webhook.Pending).Where("webhook_id IN (SELECT id FROM webhooks)")).
		ColumnExpr("(?)", o.selects((*queueRow)(nil)).ColumnExpr("min(due_at)").
			Where("webhook_id IN (SELECT id FROM webhooks WHERE enabled = 1)"))
	err := o.scan(ctx, query, &backlog.Unqueued, &backlog.Pending, &dueSince)
	backlog.DueSince = optionalInstant(dueSince)
	return backlog, err
}

func (o outbox) Unqueued(ctx context.Context, most int) ([]event.Event, error) {
	var rows []entryRow
	query := unqueued(o.selects(&rows)).Column("id", "company_id", "type", "actor", "subject_type", "subject_id", "at")
	if err := o.all(ctx, o.engine.ForUpdate(query.Order("seq").Limit(int64(most)))); err != nil {
		return nil, err
	}
	return values[event.Event](rows)
}

func (o outbox) Idle(ctx context.Context) ([]webhook.Endpoint, error) {
	idle := o.selects((*queueRow)(nil)).Column("webhook_id").Where("cursor IS NULL")
	return readAll(ctx, o.session, endpointTable,
		selectRows(o.session, endpointTable).Where("enabled = 1").Where("id IN (?)", idle).Order("created_at", "id"))
}

func (o outbox) Enqueue(ctx context.Context, which []id.Entry, wake []id.Webhook) error {
	if len(which) == 0 {
		return nil
	}
	var last int64
	if err := o.row(ctx, []any{&last}, errors.New("there is no outbox"), growOutbox, len(which)); err != nil {
		return err
	}
	first := last - int64(len(which)) + 1
	for i, entry := range which {
		if err := o.later(ctx, enqueueEntry, first+int64(i), string(entry)); err != nil {
			return err
		}
	}
	if len(wake) == 0 {
		return nil
	}
	_, err := o.exec(ctx, o.updates((*queueRow)(nil)).Set("cursor = ?", first).
		Set("due_at = CASE WHEN due_at <= ? THEN due_at ELSE ? END", millis(o.now), millis(o.now)).
		Where("webhook_id IN (?)", bun.List(wake)).Where("cursor IS NULL"))
	return err
}

var (
	growOutbox = prepare(func(b builder) fmt.Stringer {
		return b.db().NewUpdate().Table("outbox").Set("length = length + ?", b.arg(1)).Where("single = 1").Returning("length")
	})
	enqueueEntry = prepare(func(b builder) fmt.Stringer {
		return b.db().NewUpdate().Model((*entryRow)(nil)).Set("unqueued = 0").Set("position = ?", b.arg(1)).Where("id = ?", b.arg(2))
	})
)

// enqueueAll gives every event a position, which separates what was recorded before this unit from what comes after. It wakes
// every idle endpoint: its worker finds out whether the endpoint wants any of the events.
func (o outbox) enqueueAll(ctx context.Context) error {
	var which []id.Entry
	query := o.engine.ForUpdate(unqueued(o.selects((*entryRow)(nil))).Column("id").Order("seq"))
	if err := o.scan(ctx, query, &which); err != nil || len(which) == 0 {
		return err
	}
	idle, err := o.Idle(ctx)
	if err != nil {
		return err
	}
	wake := make([]id.Webhook, len(idle))
	for i, endpoint := range idle {
		wake[i] = endpoint.ID
	}
	return o.Enqueue(ctx, which, wake)
}
