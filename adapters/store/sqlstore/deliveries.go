package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// deliveries implements store.Deliveries.
type deliveries struct{ session }

var noDelivery = fault.New(fault.NotFound, "There is no such delivery.")

func (d deliveries) Get(ctx context.Context, endpoint id.Webhook, which id.Delivery) (webhook.Delivery, error) {
	var found deliveryRow
	if err := d.one(ctx, visible(byID(sentTo(d.selects(&found), endpoint), which)), noDelivery); err != nil {
		return webhook.Delivery{}, err
	}
	return found.value()
}

var lockDelivery = prepare(func(b builder) fmt.Stringer {
	return b.engine.ForUpdate(visible(byID(sentTo(b.selects((*deliveryRow)(nil)), b.arg(1)), b.arg(2))))
})

func (d deliveries) Lock(ctx context.Context, endpoint id.Webhook, which id.Delivery) (webhook.Delivery, error) {
	var found deliveryRow
	if err := d.row(ctx, found.columns(), noDelivery, lockDelivery, string(endpoint), string(which)); err != nil {
		return webhook.Delivery{}, err
	}
	return found.value()
}

var lockDeliveries = prepare(func(b builder) fmt.Stringer {
	return b.engine.ForUpdate(b.engine.InList(b.selects((*deliveryRow)(nil)), "id"))
})

func (d deliveries) LockAll(
	ctx context.Context, endpoint id.Webhook, which []id.Delivery,
) (map[id.Delivery]webhook.Delivery, error) {
	ids := make([]string, len(which))
	for i, one := range which {
		ids[i] = string(one)
	}
	list, err := d.engine.List(ids)
	if err != nil {
		return nil, err
	}
	locked := make(map[id.Delivery]webhook.Delivery, len(which))
	err = d.rows(ctx, func(rows *sql.Rows) error {
		var row deliveryRow
		if err := rows.Scan(row.columns()...); err != nil || row.Endpoint != endpoint {
			return err
		}
		delivery, err := row.value()
		locked[row.ID] = delivery
		return err
	}, lockDeliveries, list)
	return locked, err
}

// sentTo finds the deliveries to an endpoint, unless that was removed.
func sentTo(query *bun.SelectQuery, endpoint any) *bun.SelectQuery {
	return whileThere(query.Where("webhook_id = ?", endpoint), endpoint)
}

func whileThere(query *bun.SelectQuery, endpoint any) *bun.SelectQuery {
	return query.Where("EXISTS (SELECT 1 FROM webhooks WHERE id = ?)", endpoint)
}

func (d deliveries) List(
	ctx context.Context, filter store.DeliveryFilter, after page.Position, size int,
) (page.Page[webhook.Delivery], error) {
	var rows []deliveryRow
	query := visible(sentTo(d.selects(&rows), filter.Endpoint))
	if filter.Status != "" {
		query = query.Where("status = ?", filter.Status)
	}
	return newestPage(ctx, d.session, &rows, query, "created_at", after, size)
}

func (d deliveries) Due(ctx context.Context, endpoint id.Webhook, at time.Time, most int) ([]webhook.Delivery, error) {
	var rows []deliveryRow
	err := d.rows(ctx, func(found *sql.Rows) error {
		rows = append(rows, deliveryRow{})
		return found.Scan(rows[len(rows)-1].columns()...)
	}, dueDeliveries, string(endpoint), millis(at), most)
	if err != nil {
		return nil, err
	}
	return values[webhook.Delivery](rows)
}

// dueDeliveries finds the deliveries of store.DeliveryReader.Due. It finds the untried ones by an index that holds no others,
// because there can be many.
var dueDeliveries = prepare(func(b builder) fmt.Stringer {
	endpoint, at, most := b.arg(1), b.arg(2), b.arg(3)
	due := func(kind, order string) *bun.SelectQuery {
		return b.selects((*deliveryRow)(nil)).Column("seq").
			Where("webhook_id = ?", endpoint).Where(kind).Where("next_attempt_at <= ?", at).OrderExpr(order+" LIMIT ?", most)
	}
	untried, others := due("tries = 0", "seq"), due("status = 'pending' AND tries > 0", "next_attempt_at, seq")
	return whileThere(b.selects((*deliveryRow)(nil)), endpoint).
		Where("seq IN (SELECT seq FROM (?) AS untried UNION ALL SELECT seq FROM (?) AS others)", untried, others).
		OrderExpr("CASE WHEN tries = 0 THEN 0 ELSE next_attempt_at END, seq")
})

func (d deliveries) Add(ctx context.Context, added webhook.Delivery) error {
	err := d.AddAll(ctx, []webhook.Delivery{added})
	if err != nil || added.NextAttemptAt.IsZero() {
		return err
	}
	d.unit.sends = true
	return queues(d).wake(ctx, added.Endpoint, millis(added.NextAttemptAt))
}

var insertDeliveries = prepare(func(b builder) fmt.Stringer { return b.insertsMany(new(deliveryRow)) })

func (d deliveries) AddAll(ctx context.Context, added []webhook.Delivery) error {
	rows := make([][]any, len(added))
	for i, delivery := range added {
		row, err := deliveryRowOf(delivery)
		if err != nil {
			return err
		}
		rows[i] = arguments(row.columns())
	}
	return d.runRows(ctx, insertDeliveries, rows)
}

func (d deliveries) Save(ctx context.Context, saved webhook.Delivery) error {
	row, err := deliveryRowOf(saved)
	if err != nil {
		return err
	}
	err = exactlyOne(d.exec(ctx, d.run(saveDelivery,
		string(row.Status), row.Tries, row.NextAttemptAt, row.Attempts, string(row.ID))))
	if err != nil || row.NextAttemptAt == nil {
		return err
	}
	return queues(d).wake(ctx, row.Endpoint, *row.NextAttemptAt)
}

// saveDelivery sets only the columns that an attempt changes. Naming the others would cost a write to each of their indexes.
var saveDelivery = prepare(func(b builder) fmt.Stringer {
	return b.db().NewUpdate().Model((*deliveryRow)(nil)).
		Set("status = ?", b.arg(1)).Set("tries = ?", b.arg(2)).Set("next_attempt_at = ?", b.arg(3)).Set("attempts = ?", b.arg(4)).
		Where("id = ?", b.arg(5))
})

func (d deliveries) Purge(ctx context.Context, before time.Time, most int) (int, error) {
	gone, err := d.gone(ctx)
	if err != nil {
		return 0, err
	}
	removed := 0
	if len(gone) > 0 {
		orphans := d.selects((*deliveryRow)(nil)).Column("seq").Where("webhook_id IN (?)", bun.List(gone)).Limit(int64(most))
		if removed, err = d.remove(ctx, orphans); err != nil || removed == most {
			return removed, err
		}
	}
	first := d.selects((*deliveryRow)(nil)).Column("seq").Order("seq").Limit(int64(most - removed))
	old := d.selects((*deliveryRow)(nil)).Column("seq").Where("seq IN (?)", first).Where("created_at < ?", millis(before))
	more, err := d.remove(ctx, old)
	return removed + more, err
}

func (d deliveries) remove(ctx context.Context, which *bun.SelectQuery) (int, error) {
	return d.exec(ctx, d.deletes((*deliveryRow)(nil)).Where("seq IN (?)", which))
}

// gone returns the endpoints that were removed, but have deliveries. It steps from one endpoint to the next along the index: a
// scan of all deliveries would block the writer for too long.
func (d deliveries) gone(ctx context.Context) ([]id.Webhook, error) {
	var found []id.Webhook
	err := d.scan(ctx, d.engine.DB().NewRaw(`
		WITH RECURSIVE receivers (webhook_id) AS (
			SELECT min(webhook_id) FROM deliveries
			UNION ALL
			SELECT (SELECT min(webhook_id) FROM deliveries WHERE webhook_id > receivers.webhook_id)
			FROM receivers WHERE webhook_id IS NOT NULL
		)
		SELECT webhook_id FROM receivers
		WHERE webhook_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM webhooks WHERE id = webhook_id)`,
	).Conn(d.conn), &found)
	return found, err
}

// deliveryRow is a row of deliveries. It is not declared with tableOf, whose statements find one row by its key: deliveries are
// found, locked and purged by their endpoints and their state, in queries that take bun's model of a row.
type deliveryRow struct {
	bun.BaseModel `bun:"table:deliveries"`

	ID            id.Delivery    `bun:"id,pk"`
	Endpoint      id.Webhook     `bun:"webhook_id"`
	Event         id.Entry       `bun:"event_id"`
	Company       id.Company     `bun:"company_id"`
	Type          event.Type     `bun:"type"`
	Status        webhook.Status `bun:"status"`
	Tries         int64          `bun:"tries"`
	NextAttemptAt *int64         `bun:"next_attempt_at"`
	Attempts      string         `bun:"attempts"`
	CreatedAt     int64          `bun:"created_at"`
}

func (r *deliveryRow) columns() []any {
	return []any{
		(*string)(&r.ID), (*string)(&r.Endpoint), (*string)(&r.Event), (*string)(&r.Company), (*string)(&r.Type), (*string)(&r.Status),
		&r.Tries, &r.NextAttemptAt, &r.Attempts, &r.CreatedAt,
	}
}

// attemptItem is an attempt in the JSON list of its delivery.
type attemptItem struct {
	At       int64  `json:"at"`
	Status   int    `json:"status"`
	Latency  int64  `json:"latency"` // milliseconds
	Response string `json:"response"`
	Error    string `json:"error"`
}

func deliveryRowOf(d webhook.Delivery) (deliveryRow, error) {
	items := make([]attemptItem, len(d.Attempts))
	for i, attempt := range d.Attempts {
		items[i] = attemptItem{
			At:       millis(attempt.At),
			Status:   attempt.Status,
			Latency:  attempt.Latency.Milliseconds(),
			Response: attempt.Response,
			Error:    attempt.Error,
		}
	}
	attempts, err := json.Marshal(items)
	return deliveryRow{
		ID:            d.ID,
		Endpoint:      d.Endpoint,
		Event:         d.Event,
		Company:       d.Company,
		Type:          d.Type,
		Status:        d.Status,
		Tries:         int64(d.Tries),
		NextAttemptAt: optionalMillis(d.NextAttemptAt),
		Attempts:      string(attempts),
		CreatedAt:     millis(d.CreatedAt),
	}, err
}

func (r deliveryRow) value() (webhook.Delivery, error) {
	var items []attemptItem
	if err := json.Unmarshal([]byte(r.Attempts), &items); err != nil {
		return webhook.Delivery{}, fmt.Errorf("attempts of %s: %w", r.ID, err)
	}
	attempts := make([]webhook.Attempt, len(items))
	for i, item := range items {
		attempts[i] = webhook.Attempt{
			At:       instant(item.At),
			Status:   item.Status,
			Latency:  time.Duration(item.Latency) * time.Millisecond,
			Response: item.Response,
			Error:    item.Error,
		}
	}
	return webhook.Delivery{
		ID:            r.ID,
		Endpoint:      r.Endpoint,
		Event:         r.Event,
		Company:       r.Company,
		Type:          r.Type,
		Status:        r.Status,
		Tries:         int(r.Tries),
		NextAttemptAt: optionalInstant(r.NextAttemptAt),
		Attempts:      attempts,
		CreatedAt:     instant(r.CreatedAt),
	}, nil
}

func (r deliveryRow) position() page.Position { return rowPosition(r.CreatedAt, string(r.ID)) }
