package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/uptrace/bun"

	"holdco/domain/page"
)

// condition is a filter of a list: the column equals the value.
type condition struct {
	column string
	value  any
}

// sparse are columns that are empty in many rows, and whose indexes are without these: an engine uses such an index only when a query
// says that the column is not empty.
var sparse = []string{"project_id", "goal_id", "container_of"}

// meeting filters a query by all conditions. No value of a sparse column is empty.
func meeting(query *bun.SelectQuery, where []condition) *bun.SelectQuery {
	for _, c := range where {
		query = query.Where("? = ?", bun.Ident(c.column), c.value)
		if slices.Contains(sparse, c.column) {
			query = query.Where("? <> ''", bun.Ident(c.column))
		}
	}
	return query
}

// listPage reads a page of the rows that meet all conditions, newest first. It reads a page of the default size by a prepared
// statement. The size is part of the text, because LIMIT with an argument makes SQLite prepare, and Postgres plan, the
// statement again each time.
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
	found, err := readEach(ctx, s, t, t.pageStatement(where, !after.IsStart()), args...)
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

// pageShape identifies the statement of a page: by the columns of its conditions, and whether it is the first page.
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

// newest sorts the rows of a query by the time in column, newest first, then by descending id, and takes limit of them: those
// after a time and an id, or the first if at is nil.
func newest(query *bun.SelectQuery, column string, at, id any, limit int) *bun.SelectQuery {
	if at != nil {
		query = query.Where("(?, id) < (?, ?)", bun.Ident(column), at, id)
	}
	return query.OrderExpr("? DESC, id DESC LIMIT ?", bun.Ident(column), limit)
}

// newestPage reads one page of a query in the order of newest.
func newestPage[R listed[T], T any](ctx context.Context, s session, rows *[]R, query *bun.SelectQuery, column string,
	after page.Position, size int,
) (page.Page[T], error) {
	var at any
	if !after.IsStart() {
		var err error
		if at, err = positionTime(after); err != nil {
			return page.Page[T]{}, err
		}
	}
	if err := s.all(ctx, newest(query, column, at, after.ID, size+1)); err != nil {
		return page.Page[T]{}, err
	}
	return pageOf[T](*rows, size)
}

// pageOf makes a page of rows, of which there is one more than size if another page follows.
func pageOf[T any, R listed[T]](rows []R, size int) (page.Page[T], error) {
	found := page.Of(rows, size, R.position)
	items, err := values[T](found.Items)
	if err != nil {
		return page.Page[T]{}, err
	}
	return page.Page[T]{Items: items, Next: found.Next}, nil
}

// rowPosition is the position of a row in a list that is sorted by a time.
func rowPosition(at int64, id string) page.Position {
	return page.Position{Values: []string{strconv.FormatInt(at, 10)}, ID: id}
}

func positionTime(p page.Position) (int64, error) {
	if len(p.Values) == 1 {
		if at, err := strconv.ParseInt(p.Values[0], 10, 64); err == nil {
			return at, nil
		}
	}
	return 0, page.ErrForeign
}
