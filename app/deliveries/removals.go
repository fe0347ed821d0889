package deliveries

import (
	"context"
	"errors"
	"time"

	"holdco/domain/webhook"
	"holdco/ports/store"
)

const (
	removalsPerStep = 50
	rowsPerRemoval  = 500 // of each kind, purged by one unit of work
)

// FinishRemovals purges the events and deliveries of removed companies once webhooks have sent them or given up, and
// disables the endpoints that have nothing left to send because their company was removed. It reports whether there may
// be more to do.
func (s *Service) FinishRemovals(ctx context.Context) (more bool, err error) {
	due, err := s.store.Removals().Due(ctx, s.clock.Now(), removalsPerStep)
	if err != nil {
		return false, err
	}
	var failures error
	for _, removal := range due {
		failures = errors.Join(failures, s.finish(ctx, removal))
	}
	return len(due) == removalsPerStep, failures
}

func (s *Service) finish(ctx context.Context, removal store.Removal) error {
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		finished, err := tx.Removals().Finished(ctx, removal.Company)
		if err != nil {
			return err
		}
		for _, endpoint := range finished {
			if !endpoint.Enabled {
				continue
			}
			if err := disableEndpoint(ctx, tx, endpoint.ID, webhook.CompanyDeleted); err != nil {
				return err
			}
		}
		left, err := tx.Removals().Purge(ctx, removal.Company, tx.Now().Add(-webhook.LogRetention), rowsPerRemoval)
		if err != nil {
			return err
		}
		if !left {
			return tx.Removals().Close(ctx, removal.Company)
		}
		return tx.Removals().Postpone(ctx, removal.Company, nextCheck(removal.RemovedAt, tx.Now()))
	})
}

// nextCheck is when to check again what is left of a company, with backoff by the time since the removal.
func nextCheck(removedAt, now time.Time) time.Time {
	const soonest, latest = time.Second, time.Hour
	return now.Add(min(max(now.Sub(removedAt)/4, soonest), latest))
}
