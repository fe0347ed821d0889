package deliveries

import (
	"context"
	"encoding/binary"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// result is the outcome of a task.
type result struct {
	*task
	attempt webhook.Attempt

	newID  id.Delivery // of the new delivery, if this was a first attempt
	chance float64     // random, in [0, 1)

	notMade   bool  // the lease did not cover the attempt
	brokenOff bool  // canceled, because the process stops
	noEvent   bool  // the event is gone
	err       error // a failure of this program
}

// message builds the request for a task.
func (w *worker) message(t *task) webhook.Message {
	return webhook.Message{ID: t.ID, URL: w.endpoint.URL, Body: t.body, Secrets: w.secrets, At: w.clock.Now()}
}

// attempt posts a message. It checks the lease right before: a worker that was suspended may have lost it.
func (w *worker) attempt(ctx context.Context, t *task, message webhook.Message, leasedUntil time.Time) result {
	r := result{task: t}
	r.err = fault.Contain(func() error {
		if r.notMade = !covers(leasedUntil, w.clock.Now()); r.notMade {
			return nil
		}
		r.attempt = w.poster.Post(ctx, message)
		r.brokenOff = ctx.Err() != nil
		r.newID, r.chance = id.New[id.Delivery](w.ids.UUIDv7()), w.random()
		return nil
	})
	return r
}

// random returns a random number in [0, 1).
func (s *Service) random() float64 {
	const precision = 53 // bits of a float64
	random := s.entropy.Bits256()
	return float64(binary.BigEndian.Uint64(random[:])>>(64-precision)) / (1 << precision)
}
