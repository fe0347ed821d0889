package store

import (
	"context"

	"holdco/domain/price"
)

// PriceReader reads the prices of the instance.
type PriceReader interface {
	// Get returns the table. That of a new store is price.Initial.
	Get(ctx context.Context) (price.Table, error)

	// Revision returns that of the table.
	Revision(ctx context.Context) (int64, error)
}

// Prices changes the prices of the instance.
type Prices interface {
	PriceReader

	// Lock is Get, and keeps every other unit from changing the table until this one ends.
	Lock(ctx context.Context) (price.Table, error)

	// Save replaces the table by the next one: it fails unless the revision is one higher.
	Save(ctx context.Context, saved price.Table) error
}
