package sqlstore

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/page"
)

// order is an order of a list of the rows of a table: by columns that hold integers, and then by the key.
type order[T any] struct {
	table     *table[T]
	columns   []string
	ascending bool
}

// byCreation is the order of most lists: newest first.
func byCreation[T any](t *table[T]) order[T] { return order[T]{table: t, columns: []string{createdAt}} }

// apply sorts a query, and takes at most limit of the rows that come after a position.
func (o order[T]) apply(query *bun.SelectQuery, after page.Position, limit int) (*bun.SelectQuery, error) {
	direction, beyond := " DESC", "<"
	if o.ascending {
		direction, beyond = "", ">"
	}
	columns := append(slices.Clone(o.columns), string(o.table.keyColumn()))
	if !after.IsStart() {
		values, err := o.values(after)
		if err != nil {
			return nil, err
		}
		query = query.Where("("+strings.Join(columns, ", ")+") "+beyond+" (?, ?)", bun.List(values), after.ID)
	}
	return query.OrderExpr(strings.Join(columns, direction+", ") + direction).Limit(int64(limit)), nil
}

func (o order[T]) values(of page.Position) ([]int64, error) {
	values := make([]int64, len(of.Values))
	for n, value := range of.Values {
		var err error
		if values[n], err = strconv.ParseInt(value, 10, 64); err != nil {
			return nil, page.ErrForeign
		}
	}
	if len(values) != len(o.columns) {
		return nil, page.ErrForeign
	}
	return values, nil
}

// position is where a row stands.
func (o order[T]) position(of T) page.Position {
	p := page.Position{ID: o.table.key(&of)}
	for _, value := range o.of(of) {
		p.Values = append(p.Values, strconv.FormatInt(value, 10))
	}
	return p
}

// of are the values of a row by which it is sorted.
func (o order[T]) of(row T) []int64 {
	values := make([]int64, len(o.columns))
	for n, column := range o.columns {
		values[n] = o.table.column(column).get(&row).(int64)
	}
	return values
}

func (o order[T]) compare(a, b T) int {
	if !o.ascending {
		a, b = b, a
	}
	return cmp.Or(slices.Compare(o.of(a), o.of(b)), cmp.Compare(o.table.key(&a), o.table.key(&b)))
}
