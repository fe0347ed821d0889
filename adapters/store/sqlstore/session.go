package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/page"
)

// session runs queries in the engine's dialect on one connection, or on any connection when it belongs to no unit.
type session struct {
	engine     Engine
	statements *statements
	conn       bun.IConn
	unit       *unitState // nil: this session only reads

	observers  observers // of its reads; nil within a unit, which is observed as a whole
	autocommit bool      // each of its reads has a snapshot of its own
}

func (s session) selects(model any) *bun.SelectQuery {
	return s.engine.DB().NewSelect().Conn(s.conn).Model(model)
}

func (s session) inserts(model any) *bun.InsertQuery {
	return s.engine.DB().NewInsert().Conn(s.conn).Model(model).Returning("NULL")
}

func (s session) updates(model any) *bun.UpdateQuery {
	return s.engine.DB().NewUpdate().Conn(s.conn).Model(model)
}

func (s session) deletes(model any) *bun.DeleteQuery {
	return s.engine.DB().NewDelete().Conn(s.conn).Model(model)
}

// one reads the single row of a query into its model, or fails with missing.
func (s session) one(ctx context.Context, query *bun.SelectQuery, missing error) error {
	err := s.all(ctx, query.Limit(1))
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// ReadTimeout is how long a read may take, the wait for a connection included.
const ReadTimeout = 10 * time.Second

// all reads the rows of a query into its model.
func (s session) all(ctx context.Context, query *bun.SelectQuery) error { return s.scan(ctx, query) }

// scan reads what a query finds: into its model, into a slice, or a single row into its columns.
func (s session) scan(ctx context.Context, query interface {
	Scan(ctx context.Context, dest ...any) error
}, into ...any,
) error {
	return s.limited(ctx, func(ctx context.Context) error { return query.Scan(ctx, into...) })
}

// limited runs a read that may take ReadTimeout.
func (s session) limited(ctx context.Context, read func(ctx context.Context) error) error {
	return s.observers.watch(ctx, Read, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, ReadTimeout)
		defer cancel()
		return s.failure(ctx, read(limited))
	})
}

// row reads the single row that a prepared statement finds into its columns, or fails with missing.
func (s session) row(ctx context.Context, columns []any, missing error, statement *prepared, args ...any) error {
	return s.lookup(ctx, func(ctx context.Context) error {
		err := s.engine.ScanRow(ctx, s.conn, columns, s.statements.text(statement), args...)
		if errors.Is(err, sql.ErrNoRows) {
			return missing
		}
		return err
	})
}

// rows calls scan with each row that a prepared statement finds.
func (s session) rows(ctx context.Context, scan func(rows *sql.Rows) error, statement *prepared, args ...any) error {
	return s.lookup(ctx, func(ctx context.Context) error {
		found, err := s.conn.QueryContext(ctx, s.statements.text(statement), args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			if err := scan(found); err != nil {
				return err
			}
		}
		return found.Err()
	})
}

// brief runs a read that finds by an index no more than a page of rows.
func (s session) lookup(ctx context.Context, read func(ctx context.Context) error) error {
	return s.observers.watch(ctx, Read, func(ctx context.Context) error {
		limited, done, err := s.engine.Lookup(ctx, s.conn)
		if err != nil {
			return s.failure(ctx, err)
		}
		defer done()
		return s.failure(ctx, read(limited))
	})
}

// snapshot runs several reads that must agree in a session with one snapshot.
func (s session) snapshot(ctx context.Context, read func(ctx context.Context, s session) error) error {
	if !s.autocommit {
		return read(ctx, s)
	}
	return s.observers.watch(ctx, View, func(ctx context.Context) error {
		err := s.engine.View(ctx, func(ctx context.Context, conn bun.IConn) error {
			return read(ctx, session{engine: s.engine, statements: s.statements, conn: conn})
		})
		return s.failure(ctx, err)
	})
}

// each calls scan with each row of a query.
func (s session) each(ctx context.Context, query *bun.SelectQuery, scan func(rows *sql.Rows) error) error {
	return s.observers.watch(ctx, Read, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, ReadTimeout)
		defer cancel()
		found, err := query.Rows(ctx)
		if err != nil {
			return s.failure(ctx, err)
		}
		defer found.Close()
		for found.Next() {
			if err := scan(found); err != nil {
				return err
			}
		}
		return s.failure(ctx, found.Err())
	})
}

// count counts the rows of a query.
func (s session) count(ctx context.Context, query *bun.SelectQuery) (count int64, err error) {
	err = s.scan(ctx, query.ColumnExpr("count(*)"), &count)
	return count, err
}

// statement is a query that writes.
type statement interface {
	Exec(ctx context.Context, dest ...any) (sql.Result, error)
}

// change writes business rows and returns how many: the unit has to record an event.
func (s session) change(ctx context.Context, write statement) (int, error) {
	rows, err := s.exec(ctx, write)
	if rows > 0 {
		s.unit.changed = true
	}
	return rows, err
}

// changeOne is change for a row that has to be there.
func (s session) changeOne(ctx context.Context, write statement) error {
	return exactlyOne(s.change(ctx, write))
}

func exactlyOne(rows int, err error) error {
	if err == nil && rows != 1 {
		return fmt.Errorf("%d rows were changed instead of one: the row is not there, or was not locked by this unit", rows)
	}
	return err
}

// exec writes rows that are bookkeeping, no business change, and returns how many.
func (s session) exec(ctx context.Context, write statement) (int, error) {
	result, err := write.Exec(ctx)
	if err != nil {
		return 0, s.failure(ctx, err)
	}
	rows, err := result.RowsAffected()
	return int(rows), err
}

// failure is what an error of the engine looks like from outside. Faults and everything that is not the engine's pass.
func (s session) failure(ctx context.Context, err error) error {
	switch {
	case err == nil, fault.Of(err) != nil:
		return err
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil: // package sql ends transactions with their context
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded): // the store's own limit, unless the caller's has passed too
	default:
		if failure, _ := s.engine.Classify(err); failure != Unavailable {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.New(fault.Unavailable, "The store is not available; try again later.").Because(err)
}

func byID(query *bun.SelectQuery, which any) *bun.SelectQuery {
	return query.Where("id = ?", which).Limit(1)
}

// isDuplicate reports whether an error says that a unique constraint holds such a row already.
func (s session) isDuplicate(err error, constraint string) bool {
	if err == nil {
		return false
	}
	failure, violated := s.engine.Classify(err)
	return failure == Duplicate && violated == constraint
}

// newest puts the rows of a query in order, newest first by the time in column and then by descending id, and takes
// limit of them: those behind a time and an id, or the first when at is nil.
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

// pageOf makes a page of rows, of which there is one more than size when another page follows.
func pageOf[T any, R listed[T]](rows []R, size int) (page.Page[T], error) {
	found := page.Of(rows, size, R.position)
	items, err := values[T](found.Items)
	if err != nil {
		return page.Page[T]{}, err
	}
	return page.Page[T]{Items: items, Next: found.Next}, nil
}

// values are what rows stand for.
func values[T any, R listed[T]](rows []R) ([]T, error) {
	found := make([]T, len(rows))
	for i, row := range rows {
		var err error
		if found[i], err = row.value(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// listed is a row that stands for one value of the domain, in a list.
type listed[T any] interface {
	value() (T, error)
	position() page.Position
}

// place is the position of a row in a list that is sorted by a time.
func rowPosition(at int64, id string) page.Position {
	return page.Position{Values: []string{strconv.FormatInt(at, 10)}, ID: id}
}

func positionTime(p page.Position) (int64, error) {
	if len(p.Values) == 1 {
		if at, err := strconv.ParseInt(p.Values[0], 10, 64); err == nil {
			return at, nil
		}
	}
	return 0, fault.New(fault.InvalidCursor, "The cursor was not issued for this list; start again without it.")
}

// Times are kept as milliseconds since 1970, and as NULL where the domain has the zero time.

func millis(t time.Time) int64 { return t.UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// millisFrom is the first millisecond that is not before t.
func millisFrom(t time.Time) int64 { return millis(t.Add(time.Millisecond - 1)) }

func optionalMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := millis(t)
	return &ms
}

func optionalInstant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return instant(*ms)
}

// flag is how truth is kept.
func flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
