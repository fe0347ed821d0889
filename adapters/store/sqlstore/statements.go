package sqlstore

import (
	"fmt"
	"sync"

	"github.com/uptrace/bun"
)

// prepared is a query with placeholders where its arguments go. Its text is built once for each engine, by bun like that
// of every other query, and an engine prepares it once: to compile a statement costs SQLite more than to run it, and bun
// writes arguments into the text, which makes every text another statement.
type prepared struct {
	build func(b builder) fmt.Stringer
}

// prepare declares a prepared statement. It belongs into a package variable: there must be few, and what they find must be
// found by an index and be no more than a page of rows, because an engine need not interrupt them.
func prepare(build func(b builder) fmt.Stringer) *prepared { return &prepared{build} }

// builder builds queries in the dialect of an engine.
type builder struct{ engine Engine }

func (b builder) db() *bun.DB { return b.engine.DB() }

// arg stands for the nth argument, from 1 on.
func (b builder) arg(n int) any { return bun.Safe(b.engine.Placeholder(n)) }

// statements caches the texts of prepared statements for one engine.
type statements struct {
	engine Engine
	texts  sync.Map // *prepared to string
}

func (s *statements) text(of *prepared) string {
	if text, ok := s.texts.Load(of); ok {
		return text.(string)
	}
	text := of.build(builder{s.engine}).String()
	s.texts.Store(of, text)
	return text
}

// run is a prepared statement that writes, with its arguments.
func (s session) run(of *prepared, args ...any) write {
	return write{s.conn, s.statements.text(of), args}
}

// sqlText is a statement that bun cannot build.
type sqlText string

func (t sqlText) String() string { return string(t) }
