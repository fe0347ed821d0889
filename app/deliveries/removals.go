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
	rowsPerRemoval  = 200 // of each kind, purged by one unit of work
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
	more = len(due) == removalsPerStep
	for _, removal := range due {
		goesOn, err := s.finish(ctx, removal)
		more, failures = more || goesOn, errors.Join(failures, err)
	}
	return more, failures
}

// finish checks a removal, and reports whether that goes on at once.
func (s *Service) finish(ctx context.Context, removal store.Removal) (goesOn bool, err error) {
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
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
		more, left, err := tx.Removals().Purge(ctx, removal.Company, tx.Now().Add(-webhook.LogRetention), rowsPerRemoval)
		goesOn = more
		switch {
		case err != nil || more:
			return err
		case !left:
			return tx.Removals().Close(ctx, removal.Company)
		}
		return tx.Removals().Postpone(ctx, removal.Company, nextCheck(removal.RemovedAt, tx.Now()))
	})
	return goesOn, err
}

// nextCheck is when to check again what is left of a company, with backoff by the time since the removal.
func nextCheck(removedAt, now time.Time) time.Time {
	const soonest, latest = time.Second, time.Hour
	return now.Add(min(max(now.Sub(removedAt)/4, soonest), latest))
}
