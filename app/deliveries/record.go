package deliveries

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// batch is what one unit of work records.
type batch struct {
	results    []result
	end        int64   // as in worker
	unfinished []int64 // positions before end
}

// recorded is the outcome of recording a batch.
type recorded struct {
	batch
	queue webhook.Queue // as it was saved
	err   error
}

// flush starts recording the results when there are enough, when they have lingered, or when the lease has to be
// renewed. Attempts continue meanwhile.
func (w *worker) flush(ctx context.Context) {
	wantsLease := ctx.Err() == nil && !w.paused && !w.covered() && (len(w.ready)+len(w.retries) > 0 || !w.exhausted)
	nothingFollows := w.inFlight == 0 && (ctx.Err() != nil || w.paused)
	enough := len(w.unrecorded) >= mostRecord || len(w.unrecorded) > 0 && (w.lingered || nothingFollows)
	if w.recording || !enough && !wantsLease {
		return
	}
	tasks := make([]*task, len(w.unrecorded))
	for i, one := range w.unrecorded {
		tasks[i] = one.task
	}
	next := batch{results: w.unrecorded, end: w.end, unfinished: w.openBut(tasks)}
	w.unrecorded, w.lingering, w.lingered, w.recording = nil, nil, false, true
	queue := w.queue
	w.running.Go(func() {
		lasting, cancel := outlasting(ctx, stopTimeout)
		defer cancel()
		done := recorded{batch: next}
		done.err = fault.Contain(func() error {
			return w.whileLeased(lasting, queue, func() (err error) {
				done.queue, err = w.record(ctx, queue, next)
				return err
			})
		})
		w.recorded <- done
	})
}

// continueAfter takes the outcome of a recorded batch. There may be more to read since.
func (w *worker) continueAfter(done recorded) error {
	if w.recording = false; done.err != nil {
		return done.err
	}
	for _, one := range done.results {
		w.close(one.task)
	}
	finished := w.queue.Finished // as it was when the queue was claimed
	if w.queue = done.queue; w.end == 0 {
		w.end = w.queue.Cursor // it may have got a cursor meanwhile
	}
	w.queue.Finished = finished
	w.exhausted = false
	return nil
}

// record records a batch, moves the cursor and renews the lease in one unit of work. The queue is as last saved: if the lease was
// renewed since, the batch was recorded by an earlier try, whose outcome was unknown. If the lease has ended and another
// worker has the queue, it records nothing and returns errLeaseLost. It ignores cancellation, so that finished attempts
// are not repeated after a stop.
func (s *Service) record(ctx context.Context, before webhook.Queue, b batch) (saved webhook.Queue, err error) {
	endpoint := before.Endpoint
	var leased bool
	err = s.store.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Tx) error {
		queue, err := tx.Outbox().Leased(ctx, endpoint, before.Lease)
		if leased = err == nil; !leased {
			return err
		}
		if !queue.LeasedUntil.Equal(before.LeasedUntil) {
			saved = queue
			return nil
		}
		if err := recordFirst(ctx, tx, endpoint, b.results); err != nil {
			return err
		}
		if err := recordRetries(ctx, tx, endpoint, b.results); err != nil {
			return err
		}
		var disable string
		for _, one := range b.results {
			if one.noEvent {
				continue
			}
			var reason string
			if queue, reason = queue.After(one.attempt); disable == "" {
				disable = reason
			}
		}
		saved = reached(queue, b.end, b.unfinished).Renewed(tx.Now())
		if err := tx.Outbox().Save(ctx, saved); err != nil || disable == "" {
			return err
		}
		return disableEndpoint(ctx, tx, endpoint, disable) // last, because it may give the queue a cursor
	})
	if fault.CodeOf(err) == fault.NotFound && !leased {
		return saved, errLeaseLost
	}
	return saved, err
}

// recordFirst adds a delivery for each first attempt.
func recordFirst(ctx context.Context, tx store.Tx, endpoint id.Webhook, results []result) error {
	var made []webhook.Delivery
	for _, one := range results {
		if one.retry == nil {
			delivery := webhook.NewDelivery(one.newID, endpoint, one.Event, one.attempt.At)
			made = append(made, delivery.After(one.attempt, one.chance, tx.Now()))
		}
	}
	return tx.Deliveries().AddAll(ctx, made)
}

// recordRetries adds retries to their deliveries, unless these are gone.
func recordRetries(ctx context.Context, tx store.Tx, endpoint id.Webhook, results []result) error {
	var which []id.Delivery
	for _, one := range results {
		if one.retry != nil {
			which = append(which, one.retry.ID)
		}
	}
	if len(which) == 0 {
		return nil
	}
	current, err := tx.Deliveries().LockAll(ctx, endpoint, which)
	if err != nil {
		return err
	}
	for _, one := range results {
		if one.retry == nil {
			continue
		}
		delivery, there := current[one.retry.ID]
		switch {
		case !there:
			continue
		case one.noEvent:
			delivery = delivery.GiveUp()
		default:
			delivery = delivery.After(one.attempt, one.chance, tx.Now())
		}
		if err := tx.Deliveries().Save(ctx, delivery); err != nil {
			return err
		}
	}
	return nil
}

// disableEndpoint disables an endpoint and records the event, unless it is disabled already.
func disableEndpoint(ctx context.Context, tx store.Tx, which id.Webhook, reason string) error {
	endpoint, err := tx.Webhooks().Lock(ctx, which)
	if err != nil || !endpoint.Enabled {
		return err
	}
	disabled, happened := endpoint.Disable(reason, tx.Now())
	if err := tx.Webhooks().Save(ctx, disabled); err != nil {
		return err
	}
	return tx.Record(ctx, happened.By(access.System("webhooks").Actor))
}
