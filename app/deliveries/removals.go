package deliveries

import (
	"context"
	"errors"
	"time"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

const (
	removalsPerStep = 50
	rowsPerRemoval  = 200 // deliveries or events that one unit of work purges or looks at

	// The pause between two units of a check leaves the store to others.
	removalPause = 10 * time.Millisecond
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

// finish checks a removal, in as many units of work as that takes.
func (s *Service) finish(ctx context.Context, removal store.Removal) error {
	var reached page.Position
	for more := true; more; {
		var next page.Position
		err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			next, more, err = finishSome(ctx, tx, removal, reached)
			return err
		})
		if err != nil {
			return err
		}
		if reached = next; more {
			wait(ctx, removalPause)
		}
	}
	return nil
}

// finishSome does a part of a check, from a position in the events of the company on. It returns how far it came, and whether there
// is more.
func finishSome(
	ctx context.Context, tx store.Tx, removal store.Removal, after page.Position,
) (reached page.Position, more bool, err error) {
	if after.IsStart() {
		if err := disableFinished(ctx, tx, removal.Company); err != nil {
			return after, true, err
		}
	}
	before := tx.Now().Add(-webhook.LogRetention)
	reached, more, left, err := tx.Removals().Purge(ctx, removal.Company, before, after, rowsPerRemoval)
	switch {
	case err != nil || more:
		return reached, more, err
	case !left:
		return reached, false, tx.Removals().Close(ctx, removal.Company)
	}
	return reached, false, tx.Removals().Postpone(ctx, removal.Company, nextCheck(removal.RemovedAt, tx.Now()))
}

// disableFinished disables the endpoints that have nothing left to send because their company was removed.
func disableFinished(ctx context.Context, tx store.Tx, which id.Company) error {
	finished, err := tx.Removals().Finished(ctx, which)
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
	return nil
}

// nextCheck is when to check again what is left of a company, with backoff by the time since the removal.
func nextCheck(removedAt, now time.Time) time.Time {
	const soonest, latest = time.Second, time.Hour
	return now.Add(min(max(now.Sub(removedAt)/4, soonest), latest))
}
