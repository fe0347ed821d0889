package store

import (
	"context"

	"holdco/domain/move"
)

// Moving is a store that is being moved, or moved to. Nothing but its mark is written.
type Moving interface {
	// Name returns the store as an operator knows it: its file, or its host and database. It has no password.
	Name() string

	// Identity is the same for one store, however it was named.
	Identity() string

	// Hold keeps servers from the store until Close, and commands from writing to it. It fails if one of them has it. On SQLite commands
	// that have opened it can read, and can write to a store that is moved to until it has a mark: Prepare fails if they did.
	Hold(ctx context.Context) error

	// Mark returns the mark that the store has. A store without a schema has none.
	Mark(ctx context.Context) (mark move.Mark, isMarked bool, err error)

	// SetMark marks the store, durably.
	SetMark(ctx context.Context, mark move.Mark) error

	// Unmark removes the mark, durably.
	Unmark(ctx context.Context) error

	// Current fails unless the schema is the one that this program needs.
	Current(ctx context.Context) error

	// Tables returns all tables whose rows are moved: none before those to which it refers.
	Tables(ctx context.Context) ([]move.Table, error)

	// Read takes the rows of a table in the order of its key, those after a key; nil: all.
	Read(ctx context.Context, of move.Table, after move.Row, take func(row move.Row) error) error

	// Sequences returns the last numbers that columns which number their rows have given, by table and column.
	Sequences(ctx context.Context) (map[string]int64, error)

	// Close lets others have the store again.
	Close() error
}

// MovingTo is a store that is being moved to.
type MovingTo interface {
	Moving

	// Prepare makes the schema if there is none, removes what the schema alone has put into the tables, and marks the store, at once or not
	// at all. It fails if the store holds anything else.
	Prepare(ctx context.Context, mark move.Mark) error

	// Write adds rows to a table, and keeps the place of the mark, at once or not at all. It fails with the name of a row that it cannot
	// hold.
	Write(ctx context.Context, to move.Table, rows []move.Row, at move.Place) error

	// Finish makes all rows durable, and lets columns go on numbering after such numbers and after their rows.
	Finish(ctx context.Context, sequences map[string]int64) error

	// Drop removes all tables of the store, with the mark.
	Drop(ctx context.Context) error
}
