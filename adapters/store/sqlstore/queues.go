package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// This file has the queue of each endpoint: its lease, its cursor, and when it is due: at once while it has a cursor,
// otherwise when the first of its pending deliveries is, or earlier. A worker that finds nothing to do in a queue releases it,
// which sets the time.

func (o outbox) Claim(ctx context.Context, lease string, until time.Time, most int) ([]webhook.Queue, error) {
	var rows []queueRow
	query := claimable(o.selects(&rows), millis(o.now)).Order("due_at", "webhook_id").Limit(int64(most))
	if err := o.all(ctx, o.engine.SkipLocked(query)); err != nil || len(rows) == 0 {
		return nil, err
	}
	claimed, which := make([]webhook.Queue, len(rows)), make([]id.Webhook, len(rows))
	for i, row := range rows {
		row.Lease, row.LeasedUntil = lease, optionalMillis(until)
		var err error
		if claimed[i], err = row.value(); err != nil {
			return nil, err
		}
		which[i] = row.Endpoint
	}
	_, err := o.exec(ctx, o.updates((*queueRow)(nil)).
		Set("lease = ?", lease).Set("leased_until = ?", millis(until)).Where("webhook_id IN (?)", bun.List(which)))
	return claimed, err
}

var notLeased = fault.New(fault.NotFound, "The queue of the webhook is not under this lease.")

var leasedQueue = prepare(func(b builder) fmt.Stringer {
	return b.engine.ForUpdate(b.selects((*queueRow)(nil)).
		Where("webhook_id = ?", b.arg(1)).Where("lease = ? AND lease <> ''", b.arg(2)))
})

func (o outbox) Leased(ctx context.Context, endpoint id.Webhook, lease string) (webhook.Queue, error) {
	var found queueRow
	if err := o.row(ctx, found.columns(), notLeased, leasedQueue, string(endpoint), lease); err != nil {
		return webhook.Queue{}, err
	}
	return found.value()
}

func (o outbox) Save(ctx context.Context, queue webhook.Queue) error {
	row := queueRowOf(queue)
	return exactlyOne(o.exec(ctx, o.run(saveQueue,
		row.Cursor, row.Finished, row.FailingSince, row.LeasedUntil, string(row.Endpoint), row.Lease)))
}

var saveQueue = prepare(func(b builder) fmt.Stringer {
	return b.db().NewUpdate().Model((*queueRow)(nil)).
		Set("cursor = ?", b.arg(1)).Set("finished = ?", b.arg(2)).
		Set("failing_since = ?", b.arg(3)).Set("leased_until = ?", b.arg(4)).
		Where("webhook_id = ?", b.arg(5)).Where("lease = ?", b.arg(6))
})

func (o outbox) Release(ctx context.Context, queue webhook.Queue) error {
	row := queueRowOf(queue)
	var cursor, due *int64
	err := o.row(ctx, []any{&cursor, &due}, notLeased, releaseQueue,
		row.Cursor, millis(o.now), row.Finished, string(row.Endpoint), row.Lease)
	if errors.Is(err, notLeased) {
		return nil
	}
	o.unit.sends = o.unit.sends || cursor != nil || due != nil && *due <= millis(o.now)
	return err
}

var releaseQueue = prepare(func(b builder) fmt.Stringer {
	cursor, now := b.engine.Placeholder(1), b.engine.Placeholder(2)
	return reschedule(b.db(), cursor, now).Set("finished = ?", b.arg(3)).Set("lease = ''").Set("leased_until = NULL").
		Where("webhook_id = ?", b.arg(4)).Where("lease = ? AND lease <> ''", b.arg(5)).Returning("cursor, due_at")
})

// reschedule moves a queue to the next event from the cursor on, or from its own if that is NULL, and makes it due now.
// If there is none, the queue has no cursor, and due when the first of its pending deliveries is. It asks for
// the least position, not only whether there is one, to make Postgres use the index.
func reschedule(db *bun.DB, cursor, now string) *bun.UpdateQuery {
	before, after := aroundSkip("coalesce("+cursor+", queue_row.cursor)", "queue_row.skip_after", "queue_row.skip_to")
	least := func(positions string) *bun.SelectQuery {
		return db.NewSelect().Model((*entryRow)(nil)).ColumnExpr("min(position)").Where(positions)
	}
	next := bun.SafeQuery("coalesce((?), (?))", least(before), least(after))
	pending := db.NewSelect().Model((*deliveryRow)(nil)).ColumnExpr("min(next_attempt_at)").
		Where("delivery_row.webhook_id = queue_row.webhook_id").Where("status = ?", webhook.Pending)
	return db.NewUpdate().Model((*queueRow)(nil)).
		Set("cursor = ?", next).Set("due_at = CASE WHEN ? IS NULL THEN (?) ELSE ? END", next, pending, bun.Safe(now))
}

func (o outbox) Hold(ctx context.Context) (int, error) {
	if err := o.enqueueAll(ctx); err != nil {
		return 0, err
	}
	if _, err := o.exec(ctx, o.updates((*queueRow)(nil)).Set("lease = ''").Set("leased_until = NULL").Where("lease <> ''")); err != nil {
		return 0, err
	}
	pending := o.selectFrom("deliveries").ColumnExpr("1").Where("deliveries.webhook_id = queue_row.webhook_id").
		Where("status = ?", webhook.Pending)
	return o.exec(ctx, o.updates((*queueRow)(nil)).
		Set("held = 1").Where("cursor IS NOT NULL OR EXISTS (?)", pending))
}

func (o outbox) Held(ctx context.Context, most int) ([]webhook.Endpoint, error) {
	var which []id.Webhook
	held := o.selectFrom("queues").Column("webhook_id").Where("held = 1").Order("webhook_id").Limit(int64(most))
	if err := o.scan(ctx, held, &which); err != nil {
		return nil, err
	}
	endpoints := make([]webhook.Endpoint, len(which))
	for n, one := range which {
		var err error
		if endpoints[n], err = webhooksOf(o.session, o.now).Get(ctx, one); err != nil {
			return nil, err
		}
	}
	return endpoints, nil
}

func (o outbox) Resume(ctx context.Context, endpoint id.Webhook) (bool, error) {
	rows, err := o.change(ctx, o.updates((*queueRow)(nil)).Set("held = 0").Where("webhook_id = ?", endpoint).Where("held = 1"))
	o.unit.sends = o.unit.sends || rows > 0
	return rows > 0, err
}

// queues updates queues when their endpoints change, and wakes them.
type queues struct{ session }

func (q queues) add(ctx context.Context, endpoint id.Webhook) error {
	_, err := q.exec(ctx, q.inserts(&queueRow{Endpoint: endpoint}))
	return err
}

func (q queues) remove(ctx context.Context, endpoint id.Webhook) error {
	_, err := q.exec(ctx, q.deletes((*queueRow)(nil)).Where("webhook_id = ?", endpoint))
	return err
}

// wake makes a queue due at the given instant, unless it is due earlier.
func (q queues) wake(ctx context.Context, endpoint id.Webhook, at int64) error {
	return q.later(ctx, wakeQueue, at, string(endpoint))
}

var wakeQueue = prepare(func(b builder) fmt.Stringer {
	return b.db().NewUpdate().Model((*queueRow)(nil)).Set("due_at = ?", b.arg(1)).
		Where("webhook_id = ?", b.arg(2)).Where("due_at IS NULL OR due_at > ?", b.arg(1))
})

const endOfOutbox = "(SELECT length FROM outbox)"

// disable makes a queue skip what enters the outbox from now on. While it has not passed what it skipped before, the two
// ranges become one: then what happened between them is skipped too.
func (q queues) disable(ctx context.Context, endpoint id.Webhook) error {
	_, err := q.exec(ctx, q.updates((*queueRow)(nil)).
		Set("skip_after = CASE WHEN skip_to >= cursor THEN skip_after ELSE "+endOfOutbox+" END").Set("skip_to = NULL").
		Where("webhook_id = ?", endpoint))
	return err
}

// enable ends the range that a queue skips at the end of the outbox, and lets the queue continue with what waits around it.
func (q queues) enable(ctx context.Context, endpoint id.Webhook, now time.Time) error {
	_, err := q.exec(ctx, q.updates((*queueRow)(nil)).Set("skip_to = "+endOfOutbox).Where("webhook_id = ?", endpoint))
	if err == nil {
		continuing := reschedule(q.engine.DB(), "queue_row.cursor", strconv.FormatInt(millis(now), 10))
		_, err = q.exec(ctx, continuing.Conn(q.conn).Where("webhook_id = ?", endpoint))
	}
	return err
}

type queueRow struct {
	bun.BaseModel `bun:"table:queues"`

	Endpoint     id.Webhook `bun:"webhook_id,pk"`
	Cursor       *int64     `bun:"cursor"`
	Finished     string     `bun:"finished"`
	FailingSince *int64     `bun:"failing_since"`
	Lease        string     `bun:"lease"`
	LeasedUntil  *int64     `bun:"leased_until"`
}

func (r *queueRow) columns() []any {
	return []any{(*string)(&r.Endpoint), &r.Cursor, &r.Finished, &r.FailingSince, &r.Lease, &r.LeasedUntil}
}

func queueRowOf(queue webhook.Queue) queueRow {
	row := queueRow{
		Endpoint:     queue.Endpoint,
		Finished:     formatSpans(queue.Finished),
		FailingSince: optionalMillis(queue.FailingSince),
		Lease:        queue.Lease,
		LeasedUntil:  optionalMillis(queue.LeasedUntil),
	}
	if queue.Cursor != 0 {
		row.Cursor = &queue.Cursor
	}
	return row
}

func (r queueRow) value() (webhook.Queue, error) {
	queue := webhook.Queue{
		Endpoint:     r.Endpoint,
		Cursor:       orZero(r.Cursor),
		FailingSince: optionalInstant(r.FailingSince),
		Lease:        r.Lease,
		LeasedUntil:  optionalInstant(r.LeasedUntil),
	}
	var err error
	if queue.Cursor != 0 { // otherwise every position is finished
		queue.Finished, err = parseSpans(r.Finished)
	}
	return queue, err
}

// formatSpans writes ranges as 7-9,12-12.
func formatSpans(spans webhook.Spans) string {
	var text []byte
	for i, span := range spans {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, span.First, 10)
		text = append(text, '-')
		text = strconv.AppendInt(text, span.Last, 10)
	}
	return string(text)
}

func parseSpans(text string) (spans webhook.Spans, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, _ := strings.Cut(part, "-")
		var span webhook.Span
		var failures [2]error
		span.First, failures[0] = strconv.ParseInt(first, 10, 64)
		span.Last, failures[1] = strconv.ParseInt(last, 10, 64)
		if err := errors.Join(failures[:]...); err != nil {
			return nil, fmt.Errorf("finished positions of a queue: %w", err)
		}
		spans = append(spans, span)
	}
	return spans, nil
}
