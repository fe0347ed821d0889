package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"github.com/uptrace/bun"

	"holdco/domain/page"
)

// condition is what a row of a list meets: its column holds the value.
type condition struct {
	column string
	value  any
}

// meeting finds the rows that meet all conditions.
func meeting(query *bun.SelectQuery, where []condition) *bun.SelectQuery {
	for _, c := range where {
		query = query.Where("? = ?", bun.Ident(c.column), c.value)
	}
	return query
}

// listPage reads a page of the rows that meet all conditions, newest first. A page of the default size comes from a prepared
// statement. The size is part of its text: as an argument it makes SQLite compile, and Postgres plan, the statement anew each
// time.
func listPage[T any](
	ctx context.Context, s session, t *table[T], where []condition, after page.Position, size int,
) (page.Page[T], error) {
	if size != page.DefaultSize {
		return queryPage(ctx, s, t, meeting(selectRows(s, t), where), after, size)
	}
	args := make([]any, 0, len(where)+2)
	for _, c := range where {
		args = append(args, c.value)
	}
	if !after.IsStart() {
		at, err := positionTime(after)
		if err != nil {
			return page.Page[T]{}, err
		}
		args = append(args, at, after.ID)
	}
	found := make([]T, 0, size+1)
	row := t.scanner()
	err := s.rows(ctx, func(rows *sql.Rows) error {
		value, err := row.scan(rows)
		found = append(found, value)
		return err
	}, t.pageStatement(where, !after.IsStart()), args...)
	return page.Of(found, size, t.position), err
}

// queryPage reads a page of a query that selects whole rows, newest first.
func queryPage[T any](
	ctx context.Context, s session, t *table[T], query *bun.SelectQuery, after page.Position, size int,
) (page.Page[T], error) {
	var at any
	if !after.IsStart() {
		var err error
		if at, err = positionTime(after); err != nil {
			return page.Page[T]{}, err
		}
	}
	found, err := readAll(ctx, s, t, newest(query, createdAt, at, after.ID, size+1))
	return page.Of(found, size, t.position), err
}

// pageStatements are the prepared statements for the pages of a table.
type pageStatements struct {
	mutex sync.RWMutex
	of    map[pageShape]*prepared
}

// pageShape tells the statements of pages apart: those with other conditions, and first pages from others.
type pageShape struct {
	columns string
	first   bool
}

func (t *table[T]) pageStatement(where []condition, continues bool) *prepared {
	shape := pageShape{first: !continues}
	for _, c := range where {
		shape.columns += c.column + " "
	}
	t.pages.mutex.RLock()
	statement := t.pages.of[shape]
	t.pages.mutex.RUnlock()
	if statement != nil {
		return statement
	}
	statement = prepare(func(b builder) fmt.Stringer {
		where := slices.Clone(where)
		for i := range where {
			where[i].value = b.arg(i + 1)
		}
		query := meeting(t.selects(b.db()), where)
		if !continues {
			return newest(query, createdAt, nil, nil, page.DefaultSize+1)
		}
		return newest(query, createdAt, b.arg(len(where)+1), b.arg(len(where)+2), page.DefaultSize+1)
	})
	t.pages.mutex.Lock()
	defer t.pages.mutex.Unlock()
	if t.pages.of == nil {
		t.pages.of = map[pageShape]*prepared{}
	}
	t.pages.of[shape] = statement
	return statement
}
