package deliveries

import (
	"context"
	"slices"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

const eventsPerStep = 50

// spread puts the events that wait longest into the outbox and wakes the endpoints that want any of them. It reports
// whether there may be more.
func (s *Service) spread(ctx context.Context) (more bool, err error) {
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		happened, err := tx.Outbox().Unspread(ctx, eventsPerStep)
		if err != nil || len(happened) == 0 {
			more = false
			return err
		}
		more = len(happened) == eventsPerStep
		idle, err := tx.Outbox().Idle(ctx)
		if err != nil {
			return err
		}
		which := make([]id.Entry, len(happened))
		for i, one := range happened {
			which[i] = one.ID
		}
		return tx.Outbox().Place(ctx, which, wanting(idle, happened))
	})
	return more, err
}

// wanting are the endpoints that want any of the events.
func wanting(endpoints []webhook.Endpoint, happened []event.Event) (which []id.Webhook) {
	for _, endpoint := range endpoints {
		if slices.ContainsFunc(happened, endpoint.Wants) {
			which = append(which, endpoint.ID)
		}
	}
	return which
}
