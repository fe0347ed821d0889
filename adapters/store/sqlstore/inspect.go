package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"holdco/domain/doctor"
	"holdco/ports/store"
)

// What engines need to implement store.Inspector.

// EachRow calls scan with each row of a query.
func EachRow(ctx context.Context, on bun.IConn, scan func(rows *sql.Rows) error, query string) error {
	rows, err := on.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	return scanEach(rows, scan)
}

// TableSizes returns the tables of a query, which selects their names and bytes, with their rows: the largest first.
func TableSizes(ctx context.Context, db *bun.DB, on bun.IConn, query string) (tables []doctor.TableSize, err error) {
	err = EachRow(ctx, on, func(rows *sql.Rows) error {
		var one doctor.TableSize
		err := rows.Scan(&one.Name, &one.Bytes)
		tables = append(tables, one)
		return err
	}, query)
	if err != nil {
		return nil, err
	}
	for n := range tables {
		count := db.NewSelect().Table(tables[n].Name).ColumnExpr("count(*)").String()
		if err := on.QueryRowContext(ctx, count).Scan(&tables[n].Rows); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(tables, func(a, b doctor.TableSize) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return tables, nil
}

// Schema is what a database has: the definition of each column, index and constraint by its name.
type Schema map[string]string

// Compare reports what a schema lacks of another one, or has otherwise. What it has beside that is not looked at: other programs keep
// tables of their own in the same database, and operators add indexes.
func (s Schema) Compare(with Schema, differs func(store.Difference)) {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if kept, exists := s[name]; !exists {
			differs(store.Difference{Rule: "schema", About: name, Kept: "missing", Should: with[name]})
		} else if kept != with[name] {
			differs(store.Difference{Rule: "schema", About: name, Kept: kept, Should: with[name]})
		}
	}
}
