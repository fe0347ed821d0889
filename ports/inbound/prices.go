package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/price"
)

// Prices are the use cases on the price table of the instance. All of them need Admin. A change of nothing raises no revision.
type Prices interface {
	// Get returns the table.
	Get(ctx context.Context, caller access.Caller) (price.Table, error)

	// Import replaces all models by those of a file.
	Import(ctx context.Context, caller access.Caller, file price.File) (price.Table, price.Changes, error)

	// Set gives a model, which may be new, a price.
	Set(ctx context.Context, caller access.Caller, model string, draft price.Draft) (price.Model, error)

	// Remove removes a model, or fails with fault.NotFound.
	Remove(ctx context.Context, caller access.Caller, model string) (price.Model, error)

	// SetFallback changes what tokens of models without a price cost.
	SetFallback(ctx context.Context, caller access.Caller, draft price.Draft) (price.Fallback, error)
}
