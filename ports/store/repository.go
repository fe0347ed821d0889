package store

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/page"
)

// Getter reads one kind of aggregate by its id.
type Getter[I id.ID, T any] interface {
	// Get returns an aggregate, in any state, or fault.NotFound.
	Get(ctx context.Context, which I) (T, error)
}

// Lister lists one kind of aggregate.
type Lister[T any] interface {
	// List returns at most size aggregates, in any state, that come after a position: newest first, and by
	// descending id within one instant.
	List(ctx context.Context, after page.Position, size int) (page.Page[T], error)
}

// Locker locks one kind of aggregate in a unit of work.
type Locker[I id.ID, T any] interface {
	// Lock is Get, and keeps every other unit from changing the aggregate until this one ends.
	Lock(ctx context.Context, which I) (T, error)
}

// Repository reads and changes one kind of aggregate in a unit of work.
type Repository[I id.ID, T any] interface {
	Getter[I, T]
	Locker[I, T]

	// Add inserts a new aggregate.
	Add(ctx context.Context, added T) error

	// Save replaces an aggregate that this unit has locked by its next version.
	Save(ctx context.Context, saved T) error
}
