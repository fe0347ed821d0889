package sqlstore

import (
	"context"

	"github.com/uptrace/bun"

	"holdco/ports/store"
)

// seals implements store.Seals.
type seals struct{ session }

// sealedColumns are all columns with texts that are sealed with the key of the instance, and the keys of their tables, to which
// the texts are bound.
var sealedColumns = []struct{ table, owner, text string }{
	{"webhooks", "id", "secret"},
	{"webhooks", "id", "old_secret"},
	{"secret_values", "place", "sealed"},
	{"lead_suppression_keys", "id", "sealed"},
}

func (s seals) After(ctx context.Context, after store.Seal, most int) (found []store.Seal, err error) {
	owner := after.Owner
	for place := after.Place; place < len(sealedColumns) && len(found) < most; place++ {
		in := sealedColumns[place]
		var rows []struct{ Owner, Text string }
		query := s.selectFrom(in.table).ColumnExpr("? AS owner", bun.Ident(in.owner)).ColumnExpr("? AS text", bun.Ident(in.text)).
			Where("? > ?", bun.Ident(in.owner), owner).Where("? <> ''", bun.Ident(in.text)).
			OrderExpr("?", bun.Ident(in.owner)).Limit(int64(most - len(found)))
		if err := s.scan(ctx, query, &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			found = append(found, store.Seal{Place: place, Owner: row.Owner, Text: row.Text})
		}
		owner = ""
	}
	return found, nil
}

func (s seals) Replace(ctx context.Context, one store.Seal, by string) error {
	in := sealedColumns[one.Place]
	_, err := s.change(ctx, s.engine.DB().NewUpdate().Conn(s.conn).Table(in.table).Set("? = ?", bun.Ident(in.text), by).
		Where("? = ?", bun.Ident(in.owner), one.Owner).Where("? = ?", bun.Ident(in.text), one.Text))
	return err
}
