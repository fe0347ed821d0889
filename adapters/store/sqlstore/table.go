package sqlstore

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/page"
)

// table maps values of T to the rows of a table. The statements that read and write whole rows are built from its columns.
type table[T any] struct {
	name    string
	missing error // the error if a row is not found
	columns []column[T]
	kept    []column[T] // those that the table has

	get, lock, insert, remove *prepared
	insertMany, replaceMany   *prepared
	saves                     preparedFor[columnSet] // by the indexed columns that they write, besides all others
	saved                     []column[T]            // all that can be saved
	pages                     pageStatements
}

// tableOf declares a table. Its first column is its primary key. If it has a column "version", save requires that the row has
// the previous version (optimistic locking).
func tableOf[T any](name string, missing error, columns ...column[T]) *table[T] {
	columns[0] = columns[0].fixed()
	t := &table[T]{name: name, missing: missing}
	t.with(columns...)
	byKey := func(b builder) *bun.SelectQuery {
		return t.selects(b.db()).Where("? = ?", t.keyColumn(), b.arg(1)).Limit(1)
	}
	t.get = prepare(func(b builder) fmt.Stringer { return byKey(b) })
	t.lock = prepare(func(b builder) fmt.Stringer { return b.engine.ForUpdate(byKey(b)) })
	t.insert = prepare(func(b builder) fmt.Stringer { return t.inserts(b) })
	t.saves.prepare = func(moved columnSet) *prepared {
		return prepare(func(b builder) fmt.Stringer { return t.updates(b, t.saving(moved)) })
	}
	t.insertMany = prepare(func(b builder) fmt.Stringer { return t.insertsMany(b) })
	t.replaceMany = prepare(func(b builder) fmt.Stringer { return t.replacesMany(b) })
	t.remove = prepare(func(b builder) fmt.Stringer {
		return b.db().NewDelete().Table(t.name).Where("? = ?", t.keyColumn(), b.arg(1))
	})
	return t
}

// with adds columns that several tables have in common.
func (t *table[T]) with(columns ...column[T]) *table[T] {
	for _, c := range columns {
		t.include(c)
		if !c.permanent {
			t.saved = append(t.saved, c)
		}
	}
	if len(t.saved) > mostSaved {
		panic("the table " + t.name + " has too many columns for a columnSet")
	}
	return t
}

func (t *table[T]) include(c column[T]) {
	t.columns = append(t.columns, c)
	if !c.absent {
		t.kept = append(t.kept, c)
	}
}

func (t *table[T]) keyColumn() bun.Ident { return bun.Ident(t.columns[0].name) }

func (t *table[T]) key(of *T) string { return t.columns[0].get(of).(string) }

// names are those of the columns that the table has.
func (t *table[T]) names() []string {
	names := make([]string, len(t.kept))
	for i, c := range t.kept {
		names[i] = c.name
	}
	return names
}

// part is the table with some of its columns, to be read.
func (t *table[T]) part(names ...string) *table[T] {
	part := &table[T]{name: t.name, missing: t.missing}
	for _, name := range names {
		part.include(*t.column(name))
	}
	return part
}

// without is the table but for one of its columns, to be read.
func (t *table[T]) without(name string) *table[T] {
	rest := &table[T]{name: t.name, missing: t.missing}
	for _, c := range t.columns {
		if c.name != name {
			rest.include(c)
		}
	}
	return rest
}

// optional is part for texts of a row under another name that a join may not find: they are empty then.
func (t *table[T]) optional(as string, names ...string) *table[T] {
	part := &table[T]{name: as, missing: t.missing}
	for _, name := range names {
		part.include(t.column(name).readFrom("coalesce(" + as + "." + name + ", '')"))
	}
	return part
}

// allColumns are the columns as they are read, for a query of several tables.
func (t *table[T]) allColumns() bun.Safe {
	read := make([]string, len(t.columns))
	for i, c := range t.columns {
		if read[i] = t.name + "." + c.name; c.readAs != "" {
			read[i] = c.readAs + " AS " + c.name
		}
	}
	return bun.Safe(strings.Join(read, ", "))
}

// columnsOf are the columns of a subquery that has read them already.
func (t *table[T]) columnsOf(rows string) bun.Safe {
	return bun.Safe(rows + "." + strings.Join(t.names(), ", "+rows+"."))
}

func (t *table[T]) column(name string) *column[T] {
	i := slices.IndexFunc(t.columns, func(c column[T]) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &t.columns[i]
}

// selects reads whole rows.
func (t *table[T]) selects(db *bun.DB) *bun.SelectQuery {
	return db.NewSelect().Table(t.name).ColumnExpr("?", t.allColumns())
}

// inserts inserts a row, whose columns are the arguments.
func (t *table[T]) inserts(b builder) *bun.InsertQuery {
	row := map[string]any{}
	for i, c := range t.kept {
		row[c.name] = b.arg(i + 1)
	}
	return b.db().NewInsert().Model(&row).Table(t.name)
}

// insertsMany inserts as many rows as its arguments hold.
func (t *table[T]) insertsMany(b builder) sqlText {
	sample := make([]any, len(t.kept)) // of the types of the arguments
	for i, c := range t.kept {
		sample[i] = c.kind.zero()
	}
	return sqlText("INSERT INTO " + t.name + " (" + strings.Join(t.names(), ", ") + ") " + b.engine.Rows(sample))
}

// replacesMany is insertsMany, but replaces the columns of existing rows that are not permanent.
func (t *table[T]) replacesMany(b builder) sqlText {
	var changes []string
	for _, c := range t.saved {
		changes = append(changes, c.name+" = excluded."+c.name)
	}
	return t.insertsMany(b) + sqlText(" ON CONFLICT ("+t.columns[0].name+") DO UPDATE SET "+strings.Join(changes, ", "))
}

// columnSet is a set of the columns that can be saved: one bit for each. Of the sets of indexed columns that change together there
// are few.
type columnSet uint64

const mostSaved = 64

// moved are the indexed columns that change.
func (t *table[T]) moved(before, after *T) (changed columnSet) {
	for n, c := range t.saved {
		if c.indexed && !isSame(c.get(before), c.get(after)) {
			changed |= 1 << n
		}
	}
	return changed
}

// isSame compares what a column holds.
func isSame(a, b any) bool {
	p, isOptional := a.(*int64)
	if !isOptional {
		return a == b
	}
	q := b.(*int64)
	return p == q || p != nil && q != nil && *p == *q
}

// saving are the columns that are written when some indexed ones change.
func (t *table[T]) saving(moved columnSet) (columns []column[T]) {
	for n, c := range t.saved {
		if !c.indexed || moved&(1<<n) != 0 {
			columns = append(columns, c)
		}
	}
	return columns
}

// updates sets columns. The arguments are these columns, the key, and the previous version if the table has one.
func (t *table[T]) updates(b builder, columns []column[T]) *bun.UpdateQuery {
	query := b.db().NewUpdate().Table(t.name)
	for i, c := range columns {
		query = query.Set("? = ?", bun.Ident(c.name), b.arg(i+1))
	}
	query = query.Where("? = ?", t.keyColumn(), b.arg(len(columns)+1))
	if t.column("version") != nil {
		query = query.Where("version = ?", b.arg(len(columns)+2))
	}
	return query
}

// inserted returns the arguments of an insert.
func (t *table[T]) inserted(of *T) []any { return t.values(of, t.kept) }

// values returns what columns of a value hold, as arguments.
func (t *table[T]) values(of *T, columns []column[T]) []any {
	values := make([]any, len(columns), len(columns)+2)
	for i, c := range columns {
		values[i] = c.get(of)
	}
	return values
}

// scanner reads rows of a table into values, one after the other.
type scanner[T any] struct {
	table *table[T]
	cells []cell
	dests []any // where package sql puts the cells
}

func (t *table[T]) scanner() *scanner[T] {
	s := &scanner[T]{table: t, cells: make([]cell, len(t.columns)), dests: make([]any, len(t.columns))}
	for i, c := range t.columns {
		s.dests[i] = s.cells[i].dest(c.kind)
	}
	return s
}

// scan reads one row of many.
func (s *scanner[T]) scan(rows *sql.Rows) (T, error) {
	if err := rows.Scan(s.dests...); err != nil {
		var none T
		return none, err
	}
	return s.value()
}

// value converts the cells to a value.
func (s *scanner[T]) value() (T, error) {
	var value T
	for i, c := range s.table.columns {
		if err := c.set(&value, &s.cells[i]); err != nil {
			return value, fmt.Errorf("column %s of %s, where %s is %q: %w",
				c.name, s.table.name, s.table.columns[0].name, s.cells[0].text, err)
		}
	}
	return value, nil
}

// position is where a value stands in a list that is sorted by creation.
func (t *table[T]) position(of T) page.Position {
	at := t.column(createdAt).get(&of).(int64)
	return page.Position{Values: []string{strconv.FormatInt(at, 10)}, ID: t.key(&of)}
}

// createdAt is the column by which lists are sorted.
const createdAt = "created_at"
