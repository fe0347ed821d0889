package sqlstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/webhook"
)

// queues keep the queue of each endpoint, and when it is due: at once while it has a cursor, otherwise at the first
// attempt of its pending deliveries, or before. Whoever finds a queue due for nothing gives it back with the right time.
type queues struct{ session }

func (q queues) add(ctx context.Context, endpoint id.Webhook) error {
	_, err := q.keepBooks(ctx, q.inserts(&queueRow{Endpoint: endpoint}))
	return err
}

func (q queues) remove(ctx context.Context, endpoint id.Webhook) error {
	_, err := q.keepBooks(ctx, q.deletes((*queueRow)(nil)).Where("webhook_id = ?", endpoint))
	return err
}

// hasten makes a queue due at the given instant, unless it is due before.
func (q queues) hasten(ctx context.Context, endpoint id.Webhook, at int64) error {
	return q.failure(ctx, q.engine.Later(ctx, q.conn, q.texts.queueHasten, at, string(endpoint)))
}

func hastening(query *bun.UpdateQuery, at, endpoint any) *bun.UpdateQuery {
	return query.Model((*queueRow)(nil)).Set("due_at = ?", at).
		Where("webhook_id = ?", endpoint).Where("due_at IS NULL OR due_at > ?", at)
}

const endOfOutbox = "(SELECT length FROM outbox)"

// stop lets the gap of a queue begin at the end of the outbox. While the gap before is not passed yet, the two become one:
// then what happened between them is passed over too.
func (q queues) stop(ctx context.Context, endpoint id.Webhook) error {
	_, err := q.keepBooks(ctx, q.updates((*queueRow)(nil)).
		Set("gap_from = CASE WHEN gap_to >= cursor THEN gap_from ELSE "+endOfOutbox+" END").Set("gap_to = NULL").
		Where("webhook_id = ?", endpoint))
	return err
}

// resume lets the gap of a queue end at the end of the outbox, and the queue go on with what waits around it.
func (q queues) resume(ctx context.Context, endpoint id.Webhook, now time.Time) error {
	_, err := q.keepBooks(ctx, q.updates((*queueRow)(nil)).Set("gap_to = "+endOfOutbox).Where("webhook_id = ?", endpoint))
	if err == nil {
		own := bun.Safe("queue_row.cursor")
		_, err = q.keepBooks(ctx, resting(q.engine.DB(), own, millis(now)).Conn(q.conn).Where("webhook_id = ?", endpoint))
	}
	return err
}

// resting leaves a queue at the next event from the cursor on, or from its own if that is NULL, and due now; when there is
// none, without a cursor, and due when the first of its pending deliveries is. To ask for the least position, and not only
// whether there is one, makes Postgres look into the index.
func resting(db *bun.DB, cursor, now any) *bun.UpdateQuery {
	from := bun.SafeQuery("coalesce(?, queue_row.cursor)", cursor)
	before, behind := placedAround(db, from, bun.Safe("queue_row.gap_from"), bun.Safe("queue_row.gap_to"))
	next := bun.SafeQuery("coalesce((?), (?))", before.ColumnExpr("min(position)"), behind.ColumnExpr("min(position)"))
	pending := db.NewSelect().Model((*deliveryRow)(nil)).ColumnExpr("min(next_attempt_at)").
		Where("delivery_row.webhook_id = queue_row.webhook_id").Where("status = ?", webhook.Pending)
	return db.NewUpdate().Model((*queueRow)(nil)).
		Set("cursor = ?", next).Set("due_at = CASE WHEN ? IS NULL THEN (?) ELSE ? END", next, pending, now)
}

type queueRow struct {
	bun.BaseModel `bun:"table:queues"`

	Endpoint     id.Webhook `bun:"webhook_id,pk"`
	Cursor       *int64     `bun:"cursor"`
	FailingSince *int64     `bun:"failing_since"`
	Lease        string     `bun:"lease"`
	LeasedUntil  *int64     `bun:"leased_until"`
}

func (r *queueRow) columns() []any {
	return []any{(*string)(&r.Endpoint), &r.Cursor, &r.FailingSince, &r.Lease, &r.LeasedUntil}
}

func (r queueRow) value() webhook.Queue {
	queue := webhook.Queue{
		Endpoint:     r.Endpoint,
		FailingSince: optionalInstant(r.FailingSince),
		Lease:        r.Lease,
		LeasedUntil:  optionalInstant(r.LeasedUntil),
	}
	if r.Cursor != nil {
		queue.Cursor = *r.Cursor
	}
	return queue
}

// optionalPosition is NULL where the domain has 0.
func optionalPosition(position int64) *int64 {
	if position == 0 {
		return nil
	}
	return &position
}
