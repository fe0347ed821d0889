package sqlstore

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
)

// webhooks implements store.Webhooks. What only reads knows no instant.
type webhooks struct {
	session
	now time.Time
}

var noEndpoint = fault.New(fault.NotFound, "There is no such webhook.")

func (w webhooks) Get(ctx context.Context, which id.Webhook) (webhook.Endpoint, error) {
	var found endpointRow
	if err := w.one(ctx, byID(w.selects(&found), which), noEndpoint); err != nil {
		return webhook.Endpoint{}, err
	}
	return found.value()
}

func (w webhooks) Lock(ctx context.Context, which id.Webhook) (webhook.Endpoint, error) {
	var found endpointRow
	if err := w.one(ctx, w.engine.ForUpdate(byID(w.selects(&found), which)), noEndpoint); err != nil {
		return webhook.Endpoint{}, err
	}
	return found.value()
}

func (w webhooks) List(ctx context.Context, after page.Position, size int) (page.Page[webhook.Endpoint], error) {
	var rows []endpointRow
	return newestPage(ctx, w.session, &rows, w.selects(&rows), "created_at", after, size)
}

func (w webhooks) Count(ctx context.Context) (int, error) {
	count, err := w.count(ctx, w.selects((*endpointRow)(nil)))
	return int(count), err
}

func (w webhooks) Add(ctx context.Context, endpoint webhook.Endpoint) error {
	row := endpointRowOf(endpoint)
	if _, err := w.change(ctx, w.inserts(&row)); err != nil {
		return err
	}
	of := queues{w.session}
	if err := of.add(ctx, endpoint.ID); err != nil || endpoint.Enabled {
		return err
	}
	return of.stop(ctx, endpoint.ID)
}

func (w webhooks) Save(ctx context.Context, endpoint webhook.Endpoint) error {
	row := endpointRowOf(endpoint)
	turned, err := w.count(ctx, w.selects((*endpointRow)(nil)).Where("id = ?", row.ID).Where("enabled <> ?", row.Enabled))
	if err != nil {
		return err
	}
	turns := turned > 0
	if turns {
		if err := outbox(w).placeAll(ctx); err != nil {
			return err
		}
	}
	err = w.changeOne(ctx, w.updates(&row).WherePK().Where("version = ?", row.Version-1))
	switch of := (queues{w.session}); {
	case err != nil || !turns:
		return err
	case endpoint.Enabled:
		return of.resume(ctx, endpoint.ID, w.now)
	default:
		return of.stop(ctx, endpoint.ID)
	}
}

func (w webhooks) Remove(ctx context.Context, which id.Webhook) error {
	if err := w.changeOne(ctx, w.deletes((*endpointRow)(nil)).Where("id = ?", which)); err != nil {
		return err
	}
	return queues{w.session}.remove(ctx, which)
}

type endpointRow struct {
	bun.BaseModel `bun:"table:webhooks"`

	ID             id.Webhook     `bun:"id,pk"`
	URL            string         `bun:"url"`
	Events         string         `bun:"events"`
	Company        id.Company     `bun:"company_id"`
	Enabled        int            `bun:"enabled"`
	Description    string         `bun:"description"`
	DisabledReason string         `bun:"disabled_reason"`
	Secret         webhook.Sealed `bun:"secret"`
	OldSecret      webhook.Sealed `bun:"old_secret"`
	OldSecretUntil *int64         `bun:"old_secret_until"`
	CreatedAt      int64          `bun:"created_at"`
	UpdatedAt      int64          `bun:"updated_at"`
	Version        int64          `bun:"version"`
}

func endpointRowOf(e webhook.Endpoint) endpointRow {
	row := endpointRow{
		ID:             e.ID,
		URL:            e.URL,
		Events:         strings.Join(webhook.Names(e.Events), " "),
		Company:        e.Company,
		Description:    e.Description,
		DisabledReason: e.DisabledReason,
		Secret:         e.Secret,
		OldSecret:      e.OldSecret,
		OldSecretUntil: optionalMillis(e.OldSecretUntil),
		CreatedAt:      millis(e.CreatedAt),
		UpdatedAt:      millis(e.UpdatedAt),
		Version:        e.Version,
	}
	if e.Enabled {
		row.Enabled = 1
	}
	return row
}

func (r endpointRow) value() (webhook.Endpoint, error) {
	var events []webhook.Pattern
	for name := range strings.FieldsSeq(r.Events) {
		events = append(events, webhook.Pattern(name))
	}
	return webhook.Endpoint{
		ID:             r.ID,
		URL:            r.URL,
		Events:         events,
		Company:        r.Company,
		Enabled:        r.Enabled == 1,
		Description:    r.Description,
		DisabledReason: r.DisabledReason,
		Secret:         r.Secret,
		OldSecret:      r.OldSecret,
		OldSecretUntil: optionalInstant(r.OldSecretUntil),
		CreatedAt:      instant(r.CreatedAt),
		UpdatedAt:      instant(r.UpdatedAt),
		Version:        r.Version,
	}, nil
}

func (r endpointRow) position() page.Position { return place(r.CreatedAt, string(r.ID)) }
