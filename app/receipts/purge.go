package receipts

import (
	"context"

	"holdco/domain/idempotency"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

const perStep = 1000

// Purge removes some of the expired receipts, and reports whether there may be more.
func Purge(s store.Store, clock outbound.Clock) func(ctx context.Context) (more bool, err error) {
	return func(ctx context.Context) (bool, error) {
		var removed int
		err := s.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			removed, err = tx.Receipts().Purge(ctx, clock.Now().Add(-idempotency.Lifetime), perStep)
			return err
		})
		return removed == perStep, err
	}
}
