package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/uptrace/bun"
)

// prepared is a prepared statement: a query with placeholders for its arguments. bun builds its text once for each engine,
// which prepares it once: to prepare a statement costs SQLite more than to run it. In all other queries bun writes the
// arguments into the text, so that each is another statement.
type prepared struct {
	build func(b builder) fmt.Stringer
}

// prepare declares a prepared statement, to be kept in a package variable. Engines cache all of them and need not interrupt
// them: there must be few, and each must find no more than a page of rows, by an index.
func prepare(build func(b builder) fmt.Stringer) *prepared { return &prepared{build} }

// preparedFor are the prepared statements of one kind, by what their text depends on. There must be few of these.
type preparedFor[K comparable] struct {
	prepare func(of K) *prepared
	made    sync.Map // K to *prepared
}

func (p *preparedFor[K]) of(which K) *prepared {
	made, ok := p.made.Load(which)
	if !ok {
		made, _ = p.made.LoadOrStore(which, p.prepare(which))
	}
	return made.(*prepared)
}

// builder builds queries in the dialect of an engine.
type builder struct{ engine Engine }

func (b builder) db() *bun.DB { return b.engine.DB() }

// selects begins a query of the rows of a model.
func (b builder) selects(model any) *bun.SelectQuery { return b.db().NewSelect().Model(model) }

// inserts inserts a row whose columns, in order, are the arguments.
func (b builder) inserts(row modelRow) *bun.InsertQuery {
	query := b.db().NewInsert().Model(row).Returning("NULL")
	for i, name := range columnNames(b.db(), row) {
		query = query.Value(name, "?", b.arg(i+1))
	}
	return query
}

// insertsMany inserts as many rows as its arguments hold.
func (b builder) insertsMany(row modelRow) sqlText {
	table := b.db().Table(reflect.TypeOf(row).Elem()).Name
	return sqlText("INSERT INTO " + table + " (" + strings.Join(columnNames(b.db(), row), ", ") + ") " +
		b.engine.Rows(arguments(row.columns())))
}

// arg stands for the nth argument, from 1 on.
func (b builder) arg(n int) any { return bun.Safe(b.engine.Placeholder(n)) }

// statements caches the SQL of prepared statements for one engine.
type statements struct {
	engine  Engine
	queries sync.Map // *prepared to string
}

func (s *statements) text(of *prepared) string {
	if text, ok := s.queries.Load(of); ok {
		return text.(string)
	}
	text := of.build(builder{s.engine}).String()
	s.queries.Store(of, text)
	return text
}

// run returns a prepared statement that writes, with its arguments.
func (s session) run(of *prepared, args ...any) write {
	return write{s.conn, s.statements.text(of), args}
}

// later runs a prepared statement whose result is not needed: at the commit of the unit at the latest, which then fails if the
// statement does.
func (s session) later(ctx context.Context, of *prepared, args ...any) error {
	return s.failure(ctx, s.engine.Later(ctx, s.conn, s.statements.text(of), args...))
}

// runRows is later for an INSERT of many rows.
func (s session) runRows(ctx context.Context, of *prepared, rows [][]any) error {
	return s.failure(ctx, s.engine.RunRows(ctx, s.conn, s.statements.text(of), rows))
}

// write is a statement that writes, with its arguments.
type write struct {
	conn bun.IConn
	text string
	args []any
}

// Exec runs the statement. It returns no rows.
func (w write) Exec(ctx context.Context, _ ...any) (sql.Result, error) {
	return w.conn.ExecContext(ctx, w.text, w.args...)
}

// sqlText is a statement that bun cannot build.
type sqlText string

func (t sqlText) String() string { return string(t) }
