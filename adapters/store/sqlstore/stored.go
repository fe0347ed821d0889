package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/page"
)

// stored is what the repositories of all aggregates have in common. A repository embeds it, and adds what is special.
type stored[I id.ID, T any] struct {
	session
	table *table[T]
}

// Get reads one value.
func (s stored[I, T]) Get(ctx context.Context, which I) (T, error) {
	return readOne(ctx, s.session, s.table, s.table.get, string(which))
}

// Lock reads one value and locks its row until the unit ends.
func (s stored[I, T]) Lock(ctx context.Context, which I) (T, error) {
	found, err := readOne(ctx, s.session, s.table, s.table.lock, string(which))
	if err == nil {
		s.hasLocked(string(which), found)
	}
	return found, err
}

// addLater is Add at the commit of the unit at the latest: see later.
func (s stored[I, T]) addLater(ctx context.Context, added T) error {
	return s.changeLater(ctx, s.table.insert, s.table.inserted(&added)...)
}

// List reads a page of all values, newest first.
func (s stored[I, T]) List(ctx context.Context, after page.Position, size int) (page.Page[T], error) {
	return listPage(ctx, s.session, s.table, nil, after, size)
}

// Add inserts a value.
func (s stored[I, T]) Add(ctx context.Context, added T) error {
	_, err := s.change(ctx, s.run(s.table.insert, s.table.inserted(&added)...))
	return err
}

// Save replaces a value that was locked in this unit by its next version.
func (s stored[I, T]) Save(ctx context.Context, saved T) error {
	statement, args, err := s.saving(saved)
	if err != nil {
		return err
	}
	return s.changeOne(ctx, s.run(statement, args...))
}

// saveLater is Save at the commit of the unit at the latest: see later.
func (s stored[I, T]) saveLater(ctx context.Context, saved T) error {
	statement, args, err := s.saving(saved)
	if err != nil {
		return err
	}
	if s.table.column("version") == nil {
		return s.changeReadLater(ctx, rowKey{s.table.name, s.table.key(&saved)}, statement, args...)
	}
	return s.changeOneLater(ctx, statement, args...)
}

// saving returns the statement that saves a value, and its arguments. It notes that the value is saved.
func (s stored[I, T]) saving(saved T) (statement *prepared, args []any, err error) {
	before, isLocked := s.locked(saved)
	if !isLocked {
		return nil, nil, fmt.Errorf("a row of %s is saved by a unit that has not locked it", s.table.name)
	}
	moved := s.table.moved(&before, &saved)
	statement = s.table.saves.of(moved)
	key := s.table.key(&saved)
	args = append(s.table.values(&saved, s.table.saving(moved)), key)
	if version := s.table.column("version"); version != nil {
		args = append(args, version.get(&saved).(int64)-1)
	}
	s.hasLocked(key, saved)
	return statement, args, nil
}

// Remove removes a row, which has to be there.
func (s stored[I, T]) Remove(ctx context.Context, which I) error {
	return s.changeOne(ctx, s.run(s.table.remove, string(which)))
}

// locked is what was locked in this unit under the key of a value, with what the unit has saved since.
func (s stored[I, T]) locked(of T) (T, bool) {
	found, isLocked := s.unit.locked[rowKey{s.table.name, s.table.key(&of)}].(T)
	return found, isLocked
}

func (s stored[I, T]) hasLocked(which string, found T) {
	s.unit.locked[rowKey{s.table.name, which}] = found
}

// rowKey names a row.
type rowKey struct{ table, id string }

// readOne reads the row that a prepared statement finds, or fails with the table's missing.
func readOne[T any](ctx context.Context, s session, t *table[T], statement *prepared, args ...any) (T, error) {
	row := t.scanner()
	if err := s.row(ctx, row.dests, t.missing, statement, args...); err != nil {
		var none T
		return none, err
	}
	return row.value()
}

// selectRows begins a query of whole rows.
func selectRows[T any](s session, t *table[T]) *bun.SelectQuery {
	return t.selects(s.engine.DB()).Conn(s.conn)
}

// readAll reads every row of a query that selects whole rows.
func readAll[T any](ctx context.Context, s session, t *table[T], query *bun.SelectQuery) ([]T, error) {
	var found []T
	row := t.scanner()
	err := s.each(ctx, query, func(rows *sql.Rows) error {
		value, err := row.scan(rows)
		found = append(found, value)
		return err
	})
	return found, err
}

// readEach reads every row that a prepared statement finds.
func readEach[T any](ctx context.Context, s session, t *table[T], statement *prepared, args ...any) (found []T, err error) {
	row := t.scanner()
	err = s.takeRows(ctx, row.dests, func() error {
		value, err := row.value()
		found = append(found, value)
		return err
	}, statement, args...)
	return found, err
}

// readListed is readEach for a statement whose argument is a list, of Engine.Listed.
func readListed[T any](ctx context.Context, s session, t *table[T], statement *prepared, list []string) ([]T, error) {
	arg, err := s.engine.List(list)
	if err != nil {
		return nil, err
	}
	return readEach(ctx, s, t, statement, arg)
}

// insertMany inserts rows in one statement.
func insertMany[T any](ctx context.Context, s session, t *table[T], added []T) error {
	return writeMany(ctx, s, t, t.insertMany, added)
}

// replaceMany inserts rows, or replaces those with the same keys, except their permanent columns.
func replaceMany[T any](ctx context.Context, s session, t *table[T], kept []T) error {
	return writeMany(ctx, s, t, t.replaceMany, kept)
}

func writeMany[T any](ctx context.Context, s session, t *table[T], statement *prepared, values []T) error {
	if len(values) == 0 {
		return nil
	}
	rows := make([][]any, len(values))
	for i := range values {
		rows[i] = t.inserted(&values[i])
	}
	s.unit.changed = true
	return s.runRows(ctx, statement, rows)
}

// lastUsedAt is the column that says when a credential was used last.
const lastUsedAt = "last_used_at"

// touch moves an instant of rows forward, never back.
func touch[I id.ID](ctx context.Context, s session, table, column string, used map[I]time.Time) error {
	// Sorted, so that two units that touch the same rows do not deadlock.
	for _, which := range slices.Sorted(maps.Keys(used)) {
		at := millis(used[which])
		_, err := s.exec(ctx, s.engine.DB().NewUpdate().Conn(s.conn).Table(table).Set("? = ?", bun.Ident(column), at).
			Where("id = ?", which).Where("? IS NULL OR ? < ?", bun.Ident(column), bun.Ident(column), at))
		if err != nil {
			return err
		}
	}
	return nil
}
