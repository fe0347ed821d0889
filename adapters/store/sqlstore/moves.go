package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"holdco/domain/move"
)

// This file is what engines share when a store is moved to another one.

// MarkTable is where the mark of a move is.
const MarkTable = "moves"

// unmoved are the tables of the schema whose rows are not moved, with the reason. Those that an engine has of its own are its to name.
var unmoved = map[string]string{
	SchemaVersions:         "the version of the schema, which a store gets as it is migrated",
	"schema_compatibility": "likewise",
	MarkTable:              "the mark of the move itself",
	RestorationTable:       "the mark of a restoration that is to be settled, with which a store is not moved",
}

// IsMoved reports whether the rows of a table of the schema are moved.
func IsMoved(table string) bool { return unmoved[table] == "" }

// MarkOf reads the mark of a store, whose schema has the table for it.
func MarkOf(ctx context.Context, on Queryer) (mark move.Mark, isMarked bool, err error) {
	rows, err := on.QueryContext(ctx, "SELECT id, is_target, done, other, in_table, after_key, row_count FROM "+MarkTable)
	if err != nil {
		return mark, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return mark, false, rows.Err()
	}
	var isTarget, isDone int64
	err = rows.Scan(&mark.ID, &isTarget, &isDone, &mark.Other, &mark.At.Table, &mark.At.After, &mark.At.Rows)
	mark.Target, mark.Done = isTarget == 1, isDone == 1
	return mark, err == nil, err
}

// SetMark returns the statement that marks a store, and its arguments.
func SetMark(mark move.Mark, placeholder func(n int) string) (statement string, args []any) {
	args = []any{
		int64(1), mark.ID, asNumber(mark.Target), asNumber(mark.Done), mark.Other, mark.At.Table, mark.At.After, mark.At.Rows,
	}
	columns := []string{"single", "id", "is_target", "done", "other", "in_table", "after_key", "row_count"}
	var sets []string
	for _, column := range columns[1:] {
		sets = append(sets, column+" = excluded."+column)
	}
	return "INSERT INTO " + MarkTable + " (" + strings.Join(columns, ", ") + ") VALUES (" + placeholders(len(args), placeholder) +
		") ON CONFLICT (single) DO UPDATE SET " + strings.Join(sets, ", "), args
}

// SetPlace returns the statement that keeps the place of a mark, and its arguments.
func SetPlace(at move.Place, placeholder func(n int) string) (statement string, args []any) {
	return fmt.Sprintf("UPDATE %s SET in_table = %s, after_key = %s, row_count = %s",
		MarkTable, placeholder(1), placeholder(2), placeholder(3)), []any{at.Table, at.After, at.Rows}
}

func asNumber(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func placeholders(count int, placeholder func(n int) string) string {
	all := make([]string, count)
	for n := range all {
		all[n] = placeholder(n + 1)
	}
	return strings.Join(all, ", ")
}

// InOrder sorts the names of tables so that none is before those to which it refers.
func InOrder(refersTo map[string][]string) (tables []string, err error) {
	names := slices.Sorted(maps.Keys(refersTo))
	for len(tables) < len(names) {
		before := len(tables)
		for _, name := range names {
			isWaiting := slices.ContainsFunc(refersTo[name], func(other string) bool { return !slices.Contains(tables, other) })
			if !slices.Contains(tables, name) && !isWaiting {
				tables = append(tables, name)
			}
		}
		if len(tables) == before {
			return nil, errors.New("tables refer to each other")
		}
	}
	return tables, nil
}

// MovedTable looks a table up by a query for its columns, whose argument is the name of the table. It selects of each the name, the
// type, of which kinds are known, and the number in the key, from 1 on; 0: it is not in it.
func MovedTable(ctx context.Context, on Queryer, name string, kinds map[string]move.Kind, query string) (table move.Table, err error) {
	table.Name = name
	rows, err := on.QueryContext(ctx, query, name)
	if err != nil {
		return table, err
	}
	number := map[string]int{} // in the key, by the name of a column
	err = scanEach(rows, func(rows *sql.Rows) error {
		var column, kind string
		var inKey int
		if err := rows.Scan(&column, &kind, &inKey); err != nil {
			return err
		}
		if kinds[kind] == "" {
			return fmt.Errorf("the column %s.%s has a type that cannot be moved", name, column)
		}
		table.Columns = append(table.Columns, move.Column{Name: column, Kind: kinds[kind]})
		number[column] = inKey
		return nil
	})
	if err != nil {
		return table, err
	}
	slices.SortFunc(table.Columns, func(a, b move.Column) int { return strings.Compare(a.Name, b.Name) })
	keyed := map[int]int{}
	for n, column := range table.Columns {
		if inKey := number[column.Name]; inKey > 0 {
			keyed[inKey] = n
		}
	}
	for n := 1; n <= len(keyed); n++ {
		table.Keyed = append(table.Keyed, keyed[n])
	}
	if len(table.Keyed) == 0 {
		return table, fmt.Errorf("the table %s has no key, so it cannot be moved", name)
	}
	return table, nil
}

// ReadMoved takes the rows of a table in the order of its key, those after a key; nil: all. Ordered is what an expression is compared by so
// that texts go by their bytes.
func ReadMoved(
	ctx context.Context, on Queryer, of move.Table, after move.Row, placeholder func(n int) string, ordered func(column string) string,
	take func(row move.Row) error,
) error {
	var names, keys []string
	for _, column := range of.Columns {
		names = append(names, strconv.Quote(column.Name))
	}
	for _, n := range of.Keyed {
		key := names[n]
		if of.Columns[n].Kind == move.Text {
			key = ordered(key)
		}
		keys = append(keys, key)
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + strconv.Quote(of.Name)
	if after != nil {
		query += " WHERE (" + strings.Join(keys, ", ") + ") > (" + placeholders(len(after), placeholder) + ")"
	}
	rows, err := on.QueryContext(ctx, query+" ORDER BY "+strings.Join(keys, ", "), after...)
	if err != nil {
		return err
	}
	return scanEach(rows, func(rows *sql.Rows) error {
		row := make(move.Row, len(of.Columns))
		into := make([]any, len(row))
		for n := range row {
			into[n] = &row[n]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for n, cell := range row {
			if !isOf(of.Columns[n].Kind, cell) {
				return fmt.Errorf("%s has a value of type %T as %s, which cannot be moved",
					of.RowName(of.Key(row)), cell, of.Columns[n].Name)
			}
		}
		return take(row)
	})
}

func isOf(kind move.Kind, cell any) bool {
	switch cell.(type) {
	case nil:
		return true
	case string:
		return kind == move.Text
	case int64:
		return kind == move.Integer
	}
	return false
}
