package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	chain "holdco/domain/audit"
	"holdco/domain/id"
	"holdco/ports/store"
)

func (a activity) Chained(ctx context.Context) (at store.Place, err error) {
	err = a.scan(ctx, a.selectFrom("audit_progress").Column("txid", "seq"), &at.Transaction, &at.Sequence)
	return at, err
}

func (a activity) Heads(ctx context.Context, of []id.Company) (map[id.Company]store.Head, error) {
	found := map[id.Company]store.Head{}
	if len(of) == 0 {
		return found, nil
	}
	for _, one := range of {
		if one == "" {
			found[one] = store.Head{}
		}
	}
	var companies []id.Company
	if err := a.scan(ctx, a.selectFrom("companies").Column("id").Where("id IN (?)", bun.List(of)), &companies); err != nil {
		return nil, err
	}
	for _, one := range companies {
		found[one] = store.Head{}
	}
	query := a.selectFrom("audit_heads").Column("chain", "number", "entry_id", "hash", "chained_at").Where("chain IN (?)", bun.List(of))
	return found, a.each(ctx, query, func(rows *sql.Rows) error {
		var whose, entry, hash string
		var at int64
		var head store.Head
		err := rows.Scan(&whose, &head.Link.Number, &entry, &hash, &at)
		if err == nil {
			head.Link.Hash, err = chain.ParseHash(hash)
		}
		head.Entry, head.At = id.Entry(entry), instant(at)
		if _, exists := found[id.Company(whose)]; exists {
			found[id.Company(whose)] = head
		}
		return err
	})
}

func (a activity) Length(ctx context.Context, of id.Company) (number int64, err error) {
	query := a.selectFrom("audit_links").ColumnExpr("coalesce(max(number), 0)").Where("company_id = ?", of)
	err = a.scan(ctx, query, &number)
	return number, err
}

func (a activity) Links(ctx context.Context, of []id.Entry) (map[id.Entry]chain.Link, error) {
	found := map[id.Entry]chain.Link{}
	if len(of) == 0 {
		return found, nil
	}
	query := a.selectFrom("audit_links").Column("entry_id", "number", "hash").Where("entry_id IN (?)", bun.List(of))
	return found, a.each(ctx, query, func(rows *sql.Rows) error {
		entry, link, err := scanLink(rows)
		found[entry] = link
		return err
	})
}

// scanLink reads the columns entry_id, number and hash. A hash that is none, because someone has changed it, is the zero one.
func scanLink(rows *sql.Rows) (id.Entry, chain.Link, error) {
	var entry, hash string
	var link chain.Link
	err := rows.Scan(&entry, &link.Number, &hash)
	link.Hash, _ = chain.ParseHash(hash)
	return id.Entry(entry), link, err
}

func (a activity) Chain(ctx context.Context, of id.Company, after store.ChainPosition, most int) (found []store.Chained, err error) {
	query := a.selectFrom("audit_links").Column("entry_id", "number", "hash").Where("company_id = ?", of).
		Order("number", "entry_id").Limit(int64(most))
	if after != (store.ChainPosition{}) { // else also those that someone has numbered below 1
		query = query.Where("number >= ?", after.Number).Where("(number, entry_id) > (?, ?)", after.Number, after.Entry)
	}
	var ids []id.Entry
	err = a.each(ctx, query, func(rows *sql.Rows) error {
		entry, link, err := scanLink(rows)
		found, ids = append(found, store.Chained{Entry: entry, Link: link}), append(ids, entry)
		return err
	})
	if err != nil || len(ids) == 0 {
		return found, err
	}
	var rows []entryRow
	if err := a.all(ctx, visible(a.selects(&rows)).Where("id IN (?)", bun.List(ids))); err != nil {
		return nil, err
	}
	at := make(map[id.Entry]entryRow, len(rows))
	for _, row := range rows {
		at[row.ID] = row
	}
	for n := range found {
		if row, ok := at[found[n].Entry]; ok {
			happened, err := row.value()
			if err != nil {
				return nil, err
			}
			found[n].Event = &happened
		}
	}
	return found, nil
}

func (a activity) Extend(ctx context.Context, portion store.ChainedPortion) (bool, error) {
	heads := map[id.Company]store.ChainedLink{}
	for _, one := range portion.Links {
		heads[one.Company] = one
	}
	if areThere, err := a.areThere(ctx, slices.Collect(maps.Keys(heads))); err != nil || !areThere {
		return false, err
	}
	db := a.engine.DB()
	moved, err := a.exec(ctx, db.NewUpdate().Conn(a.conn).Table("audit_progress").
		Set("txid = ?", portion.To.Transaction).Set("seq = ?", portion.To.Sequence).
		Where("txid = ?", portion.From.Transaction).Where("seq = ?", portion.From.Sequence))
	if err != nil || moved == 0 || len(portion.Links) == 0 {
		return moved > 0, err
	}
	now, err := a.StoreNow(ctx)
	if err != nil {
		return false, err
	}
	rows := make([][]any, len(portion.Links))
	for n, one := range portion.Links {
		rows[n] = []any{string(one.Company), one.Link.Number, string(one.Entry), one.Link.Hash.String()}
	}
	for company, one := range heads {
		_, err := a.exec(ctx, db.NewRaw("INSERT INTO audit_heads (chain, company_id, number, entry_id, hash, chained_at) "+
			"VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (chain) DO UPDATE SET number = excluded.number, "+
			"entry_id = excluded.entry_id, hash = excluded.hash, chained_at = excluded.chained_at",
			company, bun.NullZero(string(company)), one.Link.Number, one.Entry, one.Link.Hash.String(), millis(now)).Conn(a.conn))
		if err != nil {
			return false, fmt.Errorf("chaining %q: %w", company, err)
		}
	}
	return true, a.failure(ctx, a.engine.InsertRows(ctx, a.conn, "audit_links",
		[]string{"company_id", "number", "entry_id", "hash"}, slices.Values(rows)))
}

// areThere reports whether all companies of some chains exist: the chain of the instance has none.
func (a activity) areThere(ctx context.Context, of []id.Company) (bool, error) {
	of = slices.DeleteFunc(of, func(one id.Company) bool { return one == "" })
	if len(of) == 0 {
		return true, nil
	}
	found := 0
	err := a.scan(ctx, a.selectFrom("companies").ColumnExpr("count(*)").Where("id IN (?)", bun.List(of)), &found)
	return found == len(of), err
}

// rewind makes chaining go on, after all events were moved to transaction 0, with the first that is not chained.
func (a activity) rewind(ctx context.Context) error {
	_, err := a.exec(ctx, a.engine.DB().NewRaw("UPDATE audit_progress SET txid = 0, seq = coalesce("+
		"(SELECT min(seq) - 1 FROM activity WHERE NOT EXISTS (SELECT 1 FROM audit_links WHERE entry_id = activity.id)), "+
		"(SELECT max(seq) FROM activity), 0)").Conn(a.conn))
	return err
}
