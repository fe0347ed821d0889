package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// outbox implements store.Outbox. What only reads knows no instant.
type outbox struct {
	session
	now time.Time
}

func (o outbox) Waits(ctx context.Context, at time.Time) (waits bool, err error) {
	err = o.row(ctx, []any{&waits}, nil, o.texts.outboxWaits, millis(at))
	return waits, err
}

func waiting(db *bun.DB, at any) *bun.SelectQuery {
	return db.NewSelect().ColumnExpr("EXISTS (?) OR EXISTS (?)",
		unspread(db.NewSelect().Model((*entryRow)(nil))).ColumnExpr("1"),
		claimable(db.NewSelect().Model((*queueRow)(nil)), at).ColumnExpr("1"))
}

// unspread finds the events without a position, by an index that holds no others.
func unspread(query *bun.SelectQuery) *bun.SelectQuery { return query.Where("unspread = 1") }

// claimable finds the queues that can be leased at an instant.
func claimable(query *bun.SelectQuery, at any) *bun.SelectQuery {
	return query.Where("due_at <= ?", at).Where("lease = '' OR leased_until <= ?", at).
		Where("EXISTS (SELECT 1 FROM webhooks WHERE id = webhook_id AND enabled = 1)")
}

func (o outbox) Next(ctx context.Context, endpoint id.Webhook, from int64, most int) ([]store.Placed, error) {
	var found []store.Placed
	err := o.rows(ctx, func(rows *sql.Rows) error {
		var row entryRow
		var position int64
		if err := rows.Scan(append(row.columns(), &position)...); err != nil {
			return err
		}
		happened, err := row.value()
		found = append(found, store.Placed{Event: happened, Position: position})
		return err
	}, o.texts.outboxNext, string(endpoint), from, most)
	return found, err
}

func placedFrom(db *bun.DB, endpoint, from, most any) *bun.SelectQuery {
	gap := func(column string) *bun.SelectQuery {
		return db.NewSelect().Model((*queueRow)(nil)).Column(column).Where("webhook_id = ?", endpoint)
	}
	first := func(placed *bun.SelectQuery) *bun.SelectQuery {
		return placed.Column("seq").OrderExpr("position LIMIT ?", most)
	}
	before, behind := placedAround(db, from, gap("gap_from"), gap("gap_to"))
	return db.NewSelect().Model((*entryRow)(nil)).ColumnExpr("?TableColumns, position").
		Where("seq IN (SELECT seq FROM (?) AS before_gap UNION ALL SELECT seq FROM (?) AS behind_gap)", first(before), first(behind)).
		OrderExpr("position LIMIT ?", most)
}

// placedAround finds the events from a position on that are before a gap, and those that are behind it. Each query begins
// in the index where its events do, for a gap can be as wide as the outbox, and long past.
func placedAround(db *bun.DB, from, gapFrom, gapTo any) (before, behind *bun.SelectQuery) {
	const never = "9223372036854775807"
	placed := func() *bun.SelectQuery { return db.NewSelect().Model((*entryRow)(nil)) }
	before = placed().Where("position >= ?", from).Where("position <= coalesce((?), "+never+")", gapFrom)
	behind = placed().Where("position >= CASE WHEN (?) IS NULL THEN "+never+" WHEN (?) >= ? THEN (?) + 1 ELSE ? END",
		gapTo, gapTo, from, gapTo, from)
	return before, behind
}

func (o outbox) Backlog(ctx context.Context) (store.Backlog, error) {
	var backlog store.Backlog
	var dueSince *int64
	query := o.engine.DB().NewSelect().Conn(o.conn).
		ColumnExpr("(?)", unspread(o.selects((*entryRow)(nil))).ColumnExpr("count(*)")).
		ColumnExpr("(?)", o.selects((*deliveryRow)(nil)).ColumnExpr("count(*)").
			Where("status = ?", webhook.Pending).Where("webhook_id IN (SELECT id FROM webhooks)")).
		ColumnExpr("(?)", o.selects((*queueRow)(nil)).ColumnExpr("min(due_at)").
			Where("webhook_id IN (SELECT id FROM webhooks WHERE enabled = 1)"))
	err := o.scan(ctx, query, &backlog.Unspread, &backlog.Pending, &dueSince)
	backlog.DueSince = optionalInstant(dueSince)
	return backlog, err
}

func (o outbox) Unspread(ctx context.Context, most int) ([]event.Event, error) {
	var rows []entryRow
	if err := o.all(ctx, o.engine.ForUpdate(unspread(o.selects(&rows)).Order("seq").Limit(int64(most)))); err != nil {
		return nil, err
	}
	return values[event.Event](rows)
}

func (o outbox) Idle(ctx context.Context) ([]webhook.Endpoint, error) {
	var rows []endpointRow
	idle := o.selects((*queueRow)(nil)).Column("webhook_id").Where("cursor IS NULL")
	err := o.all(ctx, o.selects(&rows).Where("enabled = 1").Where("id IN (?)", idle).Order("created_at", "id"))
	if err != nil {
		return nil, err
	}
	return values[webhook.Endpoint](rows)
}

func (o outbox) Place(ctx context.Context, which []id.Entry, wantedBy []id.Webhook) error {
	if len(which) == 0 {
		return nil
	}
	var last int64
	if err := o.row(ctx, []any{&last}, errors.New("there is no outbox"), o.texts.outboxGrow, len(which)); err != nil {
		return err
	}
	first := last - int64(len(which)) + 1
	for i, entry := range which {
		if err := o.engine.Later(ctx, o.conn, o.texts.entryPlace, first+int64(i), string(entry)); err != nil {
			return o.failure(ctx, err)
		}
	}
	if len(wantedBy) == 0 {
		return nil
	}
	_, err := o.keepBooks(ctx, o.updates((*queueRow)(nil)).Set("cursor = ?", first).
		Set("due_at = CASE WHEN due_at <= ? THEN due_at ELSE ? END", millis(o.now), millis(o.now)).
		Where("webhook_id IN (?)", bun.List(wantedBy)).Where("cursor IS NULL"))
	return err
}

func growing(query *bun.UpdateQuery, by any) *bun.UpdateQuery {
	return query.Table("outbox").Set("length = length + ?", by).Where("single = 1").Returning("length")
}

func placing(query *bun.UpdateQuery, position, which any) *bun.UpdateQuery {
	return query.Model((*entryRow)(nil)).Set("unspread = 0").Set("position = ?", position).Where("id = ?", which)
}

// placeAll gives every event a position, so that what was recorded before this unit is told from what comes after. Which
// of the idle endpoints want any of them they find out by themselves.
func (o outbox) placeAll(ctx context.Context) error {
	var which []id.Entry
	query := o.engine.ForUpdate(unspread(o.selects((*entryRow)(nil))).Column("id").Order("seq"))
	if err := o.scan(ctx, query, &which); err != nil || len(which) == 0 {
		return err
	}
	idle, err := o.Idle(ctx)
	if err != nil {
		return err
	}
	wantedBy := make([]id.Webhook, len(idle))
	for i, endpoint := range idle {
		wantedBy[i] = endpoint.ID
	}
	return o.Place(ctx, which, wantedBy)
}

func (o outbox) Claim(ctx context.Context, lease string, until time.Time, most int) ([]webhook.Queue, error) {
	var rows []queueRow
	query := claimable(o.selects(&rows), millis(o.now)).Order("due_at", "webhook_id").Limit(int64(most))
	if err := o.all(ctx, o.engine.SkipLocked(query)); err != nil || len(rows) == 0 {
		return nil, err
	}
	claimed, which := make([]webhook.Queue, len(rows)), make([]id.Webhook, len(rows))
	for i, row := range rows {
		row.Lease, row.LeasedUntil = lease, optionalMillis(until)
		claimed[i], which[i] = row.value(), row.Endpoint
	}
	_, err := o.keepBooks(ctx, o.updates((*queueRow)(nil)).
		Set("lease = ?", lease).Set("leased_until = ?", millis(until)).Where("webhook_id IN (?)", bun.List(which)))
	return claimed, err
}

var notHeld = fault.New(fault.NotFound, "The queue of the webhook is not held under this lease.")

func (o outbox) Held(ctx context.Context, endpoint id.Webhook, lease string) (webhook.Queue, error) {
	var found queueRow
	if err := o.row(ctx, found.columns(), notHeld, o.texts.queueHeld, string(endpoint), lease); err != nil {
		return webhook.Queue{}, err
	}
	return found.value(), nil
}

func heldUnder(query *bun.SelectQuery, endpoint, lease any) *bun.SelectQuery {
	return query.Where("webhook_id = ?", endpoint).Where("lease = ? AND lease <> ''", lease)
}

func (o outbox) Hold(ctx context.Context, queue webhook.Queue) error {
	return exactlyOne(o.keepBooks(ctx, write{o.conn, o.texts.queueHold, []any{
		optionalPosition(queue.Cursor), optionalMillis(queue.FailingSince), optionalMillis(queue.LeasedUntil),
		string(queue.Endpoint), queue.Lease,
	}}))
}

func holding(query *bun.UpdateQuery, cursor, failingSince, until, endpoint, lease any) *bun.UpdateQuery {
	return query.Model((*queueRow)(nil)).
		Set("cursor = ?", cursor).Set("failing_since = ?", failingSince).Set("leased_until = ?", until).
		Where("webhook_id = ?", endpoint).Where("lease = ?", lease)
}

func (o outbox) Release(ctx context.Context, queue webhook.Queue) error {
	var cursor *int64
	err := o.row(ctx, []any{&cursor}, notHeld, o.texts.queueRelease,
		optionalPosition(queue.Cursor), millis(o.now), string(queue.Endpoint), queue.Lease)
	if errors.Is(err, notHeld) {
		return nil
	}
	o.ledger.sends = o.ledger.sends || cursor != nil
	return err
}

func releasing(db *bun.DB, cursor, now, endpoint, lease any) *bun.UpdateQuery {
	return resting(db, cursor, now).Set("lease = ''").Set("leased_until = NULL").
		Where("webhook_id = ?", endpoint).Where("lease = ? AND lease <> ''", lease).Returning("cursor")
}
