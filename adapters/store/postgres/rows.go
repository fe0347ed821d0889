package postgres

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/uptrace/bun"
)

// InList implements sqlstore.Engine.
func (e *Engine) InList(query *bun.SelectQuery, column string) *bun.SelectQuery {
	return query.Where("?TableAlias.? = ANY(?)", bun.Ident(column), bun.Safe(e.Placeholder(1)))
}

// Listed implements sqlstore.Engine.
func (e *Engine) Listed(n int) string {
	return "unnest(" + e.Placeholder(n) + "::text[]) AS listed (value)"
}

// List implements sqlstore.Engine.
func (e *Engine) List(of any) (any, error) { return of, nil }

// InsertRows implements sqlstore.Engine: COPY takes half the time of an INSERT.
func (e *Engine) InsertRows(ctx context.Context, conn bun.IConn, table string, columns []string, rows iter.Seq[[]any]) error {
	return conn.(*unit).copy(ctx, table, columns, rows)
}

// Rows implements sqlstore.Engine. Each column comes as an array: one statement with many rows is far faster than many
// statements.
func (e *Engine) Rows(row []any) string {
	arrays := make([]string, len(row))
	for i, cell := range row {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, columnOf(cell).kind())
	}
	return "SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")"
}

// fewRows is how many rows go into a statement cell by cell. The server keeps each array of Rows as a table of its own, which costs more
// than a few rows do, but each number of rows needs another prepared statement.
const fewRows = 8

// RunRows implements sqlstore.Engine.
func (e *Engine) RunRows(_ context.Context, conn bun.IConn, text string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if len(rows) <= fewRows {
		conn.(*unit).later(e.withFew(text, rows), slices.Concat(rows...)...)
		return nil
	}
	args := make([]any, len(rows[0]))
	for i, cell := range rows[0] {
		args[i] = columnOf(cell).of(rows, i)
	}
	conn.(*unit).later(text, args...)
	return nil
}

// fewKey is what a statement with a few rows is cached by.
type fewKey struct {
	text string // with what Rows returned
	rows int
}

// withFew is a statement with the cells of a few rows in the place of the arrays of Rows.
func (e *Engine) withFew(text string, rows [][]any) string {
	key := fewKey{text, len(rows)}
	if made, ok := e.few.Load(key); ok {
		return made.(string)
	}
	var values strings.Builder
	n := 0
	for i, row := range rows {
		for j, cell := range row {
			n++
			before := ", "
			switch {
			case i == 0 && j == 0:
				before = "VALUES ("
			case j == 0:
				before = "), ("
			}
			fmt.Fprintf(&values, "%s$%d::%s", before, n, columnOf(cell).kind())
		}
	}
	made := strings.Replace(text, e.Rows(rows[0]), values.String()+")", 1)
	e.few.Store(key, made)
	return made
}

// column is how cells of one type are sent together.
type column interface {
	kind() string               // their type
	of(rows [][]any, i int) any // the cells in the ith column of rows
}

func columnOf(cell any) column {
	switch cell.(type) {
	case string:
		return cells[string]{"text"}
	case int64:
		return cells[int64]{"bigint"}
	case *int64:
		return cells[*int64]{"bigint"}
	default:
		panic(fmt.Sprintf("a cell of type %T", cell))
	}
}

type cells[T any] struct{ name string }

func (c cells[T]) kind() string { return c.name }

func (c cells[T]) of(rows [][]any, i int) any {
	column := make([]T, len(rows))
	for n, row := range rows {
		column[n] = row[i].(T)
	}
	return column
}
