package sqlstore

import (
	"context"

	"github.com/uptrace/bun"

	"holdco/domain/id"
)

// owned are the tables with rows of a company, in an order in which no row is removed before those that refer to it.
var owned = []struct {
	table string
	key   string // its primary key
	blank string // what is set instead of removing the row; company_id has to be among it
}{
	{table: "slots", key: "id"},
	{table: "teams", key: "id"},
	{table: "deliveries", key: "seq"},
	{table: "activity", key: "id"},
	{table: "receipts", key: "token_id, key", blank: "answer = '', company_id = ''"},
}

func (c companies) Empty(ctx context.Context, which id.Company, most int) (done bool, err error) {
	left := most
	for _, of := range owned {
		some := c.rowsOf(of.table, which).ColumnExpr(of.key).Limit(int64(left))
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
		var some []int
		if err := c.scan(ctx, c.rowsOf(of.table, which).ColumnExpr("1").Limit(1), &some); err != nil {
			return false, err
		}
		if len(some) > 0 {
			return false, nil
		}
	}
	return true, nil
}

func (c companies) rowsOf(table string, which id.Company) *bun.SelectQuery {
	// Some indexes leave out rows of no company, so the engine has to see that this is one.
	return c.engine.DB().NewSelect().Conn(c.conn).Table(table).Where("company_id = ? AND company_id <> ''", which)
}
