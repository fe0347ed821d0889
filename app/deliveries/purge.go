package deliveries

import (
	"context"

	"holdco/domain/webhook"
	"holdco/ports/store"
)

const purgedPerStep = 500

// Purge removes some of the deliveries that are older than the log is kept or whose endpoint is gone, and reports
// whether there may be more.
func (s *Service) Purge(ctx context.Context) (more bool, err error) {
	var removed int
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		removed, err = tx.Deliveries().Purge(ctx, tx.Now().Add(-webhook.LogRetention), purgedPerStep)
		return err
	})
	return removed == purgedPerStep, err
}
