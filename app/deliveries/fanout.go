package deliveries

import (
	"context"
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

const (
	eventsPerStep = 200
	fanOutPause   = 10 * time.Millisecond // between two fan-outs, at least: under load one fan-out takes the events of many changes
)

// fanOut enqueues the oldest unqueued events and wakes the idle endpoints that want any of them. It reports whether
// there may be more.
func (s *Service) fanOut(ctx context.Context) (more bool, err error) {
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		happened, err := tx.Outbox().Unqueued(ctx, eventsPerStep)
		if more = len(happened) == eventsPerStep; err != nil || len(happened) == 0 {
			return err
		}
		idle, err := tx.Outbox().Idle(ctx)
		if err != nil {
			return err
		}
		which := make([]id.Entry, len(happened))
		for i, one := range happened {
			which[i] = one.ID
		}
		return tx.Outbox().Enqueue(ctx, which, wanting(idle, happened))
	})
	s.fannedOut = time.Now() //nolint:forbidigo // a pace, which is measured on the monotonic clock
	return more, err
}

// pace waits until fanOutPause has passed since the last fan-out.
func (s *Service) pace(ctx context.Context) {
	wait(ctx, fanOutPause-time.Since(s.fannedOut)) //nolint:forbidigo // as above
}

// wait waits until a time has passed, or ctx ends.
func wait(ctx context.Context, pause time.Duration) {
	if pause <= 0 {
		return
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// wanting returns the endpoints that want any of the events.
func wanting(endpoints []webhook.Endpoint, happened []event.Event) (which []id.Webhook) {
	for _, endpoint := range endpoints {
		if slices.ContainsFunc(happened, endpoint.Wants) {
			which = append(which, endpoint.ID)
		}
	}
	return which
}
