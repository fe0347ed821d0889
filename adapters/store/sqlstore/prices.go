package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdco/domain/price"
)

// prices implements store.Prices.
type prices struct{ session }

// instanceRow is the key of the only row.
const instanceRow = "instance"

var priceTable = tableOf("prices", errors.New("the row of prices is not there"),
	derived("id", func(*price.Table) string { return instanceRow }),
	asInteger("version", func(t *price.Table) *int64 { return &t.Revision }),
	asText("snapshot", func(t *price.Table) *string { return &t.Snapshot }),
	asOptionalMillis("changed_at", func(t *price.Table) *time.Time { return &t.ChangedAt }),
	asInteger("fallback_input", func(t *price.Table) *price.Price { return &t.Fallback.Input }),
	asInteger("fallback_output", func(t *price.Table) *price.Price { return &t.Fallback.Output }),
	column[price.Table]{
		name: "models", kind: textKind,
		get: func(t *price.Table) any { return string(price.Format(t.Models)) },
		set: func(t *price.Table, c *cell) (err error) {
			if c.text == "" {
				t.Snapshot, t.Models = price.SnapshotDate, price.Initial().Models
				return nil
			}
			t.Models, err = price.Parse(c.text)
			return err
		},
	},
)

var priceRevision = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("prices").Column("version").Where("id = ?", b.arg(1))
})

func (p prices) Get(ctx context.Context) (price.Table, error) {
	return readOne(ctx, p.session, priceTable, priceTable.get, instanceRow)
}

func (p prices) Revision(ctx context.Context) (revision int64, err error) {
	err = p.row(ctx, []any{&revision}, priceTable.missing, priceRevision, instanceRow)
	return revision, err
}

func (p prices) Lock(ctx context.Context) (price.Table, error) {
	return readOne(ctx, p.session, priceTable, priceTable.lock, instanceRow)
}

func (p prices) Save(ctx context.Context, saved price.Table) error {
	args := append(priceTable.values(&saved, priceTable.saved), instanceRow, saved.Revision-1)
	return p.changeOne(ctx, p.run(priceTable.saves.of(0), args...))
}
