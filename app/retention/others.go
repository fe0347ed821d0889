package retention

import (
	"context"
	"errors"

	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/domain/retention"
	"holdco/domain/run"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// other is a kind whose time is not set, and of which a reader of the activity log misses nothing: its removal is no event.
type other struct {
	kind   retention.Kind
	most   int // rows that one unit removes
	remove func(ctx context.Context, tx store.Tx, most int) (removed int, err error)
}

var others = []other{
	{retention.Deliveries, 500, func(ctx context.Context, tx store.Tx, most int) (int, error) {
		return tx.Deliveries().Purge(ctx, tx.Now().Add(-webhook.LogRetention), most)
	}},
	{retention.Receipts, 1000, func(ctx context.Context, tx store.Tx, most int) (int, error) {
		return tx.Receipts().Purge(ctx, tx.Now().Add(-idempotency.Lifetime), most)
	}},
	{retention.Answers, store.Portion, func(ctx context.Context, tx store.Tx, _ int) (int, error) {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return 0, err
		}
		return tx.Runs().Forget(ctx, at.Add(-run.AnswersKept))
	}},
	{retention.Sessions, 1000, func(ctx context.Context, tx store.Tx, most int) (int, error) {
		return tx.Sessions().Purge(ctx, tx.Now(), most)
	}},
	{retention.Imports, 500, func(ctx context.Context, tx store.Tx, most int) (int, error) {
		return tx.Imports().Purge(ctx, lead.ImportsKept, most)
	}},
}

// others removes what is old enough of the kinds whose time is not set. A kind that fails holds up no other.
func (s *Service) others(ctx context.Context) error {
	var failures error
	for _, one := range others {
		failures = errors.Join(failures, s.removeAll(ctx, one))
	}
	return failures
}

func (s *Service) removeAll(ctx context.Context, of other) error {
	for {
		var removed int
		err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			removed, err = of.remove(ctx, tx, of.most)
			return err
		})
		if err != nil {
			return err
		}
		s.counter(of.kind, removed)
		if removed < of.most {
			return nil
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}
