package deliveries

import (
	"context"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// target is the endpoint that messages are sent to, cached for freshness.
type target struct {
	endpoint webhook.Endpoint
	secrets  []webhook.Secret
	readAt   time.Time
	paused   bool // the endpoint is disabled, or gone
}

const (
	// freshness is how old the cached endpoint of an attempt may be.
	freshness = 20 * time.Millisecond

	leastAhead  = 64 // minimum number of events to read ahead
	retriesRead = 50 // deliveries read at once
)

// read reads more tasks when there is room for them. It is retried when it has failed, so it sets exhausted when all else is read.
func (w *worker) read(ctx context.Context) error {
	if err := w.readTarget(ctx); err != nil || w.paused {
		return err
	}
	if !w.canRead(ctx) {
		return nil
	}
	if err := w.readRetries(ctx); err != nil {
		return err
	}
	more, err := w.readEvents(ctx)
	if err == nil {
		w.exhausted = !more
	}
	return err
}

// canRead reports whether there is room for more tasks, and may be more.
func (w *worker) canRead(ctx context.Context) bool {
	return !w.exhausted && !w.paused && ctx.Err() == nil && (len(w.open) <= w.ahead()/2 || len(w.retries) == 0)
}

func (w *worker) ahead() int { return max(leastAhead, 8*int(w.parallel)) }

func (w *worker) readTarget(ctx context.Context) error {
	if time.Since(w.readAt) < freshness { //nolint:forbidigo // the age of a cached value, on the monotonic clock
		return nil
	}
	endpoint, err := w.store.Webhooks().Get(ctx, w.queue.Endpoint)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return err
	}
	readAt := time.Now() //nolint:forbidigo // as above
	w.target = target{endpoint: endpoint, readAt: readAt, paused: err != nil || !endpoint.Enabled}
	if w.paused {
		return nil
	}
	for _, sealed := range endpoint.Secrets(w.clock.Now()) {
		secret, err := w.vault.Open(string(endpoint.ID), string(sealed))
		if err != nil {
			return err
		}
		w.secrets = append(w.secrets, webhook.Secret(secret))
	}
	return nil
}

// readEvents reads the next events of the outbox, and reports whether there may be more.
func (w *worker) readEvents(ctx context.Context) (more bool, err error) {
	room := w.ahead() - len(w.open)
	if w.end == 0 || room < w.ahead()/2 {
		return false, nil
	}
	queued, err := w.store.Outbox().Next(ctx, w.endpoint.ID, w.end, room)
	if err != nil {
		return false, err
	}
	for _, one := range queued {
		w.end = one.Position + 1
		if w.queue.Finished.Contains(one.Position) || !w.endpoint.Wants(one.Event) {
			continue
		}
		if err := w.addTask(one, nil); err != nil {
			return false, err
		}
	}
	return len(queued) == room, nil
}

// readRetries reads deliveries that are due. Deliveries that are being retried are due until the retry is recorded; it skips
// them, and reads no others until then.
func (w *worker) readRetries(ctx context.Context) error {
	if len(w.retries) > 0 {
		return nil
	}
	due, err := w.store.Deliveries().Due(ctx, w.endpoint.ID, w.clock.Now(), retriesRead)
	if err != nil || len(due) == 0 {
		return err
	}
	events := make([]id.Entry, len(due))
	for i, delivery := range due {
		events[i] = delivery.Event
	}
	queued, err := w.store.Outbox().Events(ctx, events)
	if err != nil {
		return err
	}
	byID := make(map[id.Entry]store.Queued, len(queued))
	for _, one := range queued {
		byID[one.ID] = one
	}
	for _, delivery := range due {
		if w.retrying[delivery.ID] {
			continue
		}
		one, there := byID[delivery.Event]
		if !there {
			w.retrying[delivery.ID] = true
			w.toRecord(result{task: &task{retry: &delivery}, noEvent: true})
		} else if err := w.addTask(one, &delivery); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) addTask(one store.Queued, retry *webhook.Delivery) error {
	body, err := webhook.Body(one.Event, one.Position)
	if err != nil {
		return err
	}
	one.Data, one.Previous = nil, nil // they are in the body
	w.add(&task{Queued: one, body: body, retry: retry})
	return nil
}
