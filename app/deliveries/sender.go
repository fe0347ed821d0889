package deliveries

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// sender works through the queue of one endpoint, one attempt after the other, while it holds the lease.
type sender struct {
	*Service
	queue webhook.Queue // as it was written down last, but for the cursor, which may be ahead of that
}

const (
	perTurn = 10 // attempts of one kind after which it is the turn of the other, so that neither has to wait for all of the other
	perLook = 20 // events that are read at a time
)

// errLost tells that another sender works on the queue now.
var errLost = errors.New("the lease of the queue is another's")

// run makes the attempts that are due, until there are none or ctx ends.
func (s *sender) run(ctx context.Context) error {
	for {
		begun, err := s.begin(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		repeated, err := s.repeat(ctx)
		if err != nil || ctx.Err() != nil || begun+repeated == 0 {
			return err
		}
	}
}

// begin makes the first attempts of one turn, in the order of the outbox. The delivery is made with what came of it.
func (s *sender) begin(ctx context.Context) (attempts int, err error) {
	for ; attempts < perTurn; attempts++ {
		endpoint, next, err := s.next(ctx)
		if err != nil || next == nil {
			return attempts, err
		}
		message, err := s.messageOf(endpoint, next.Event)
		if err != nil {
			return attempts, err
		}
		attempt, interrupted, err := s.send(ctx, message)
		if err != nil || interrupted {
			return attempts, err // what was interrupted is made again
		}
		s.queue.Cursor = next.Position + 1
		delivery := webhook.NewDelivery(id.New[id.Delivery](s.ids.UUIDv7()), endpoint.ID, next.Event, message.At)
		chance := s.chance()
		err = s.hold(ctx, func(ctx context.Context, tx store.Tx, queue webhook.Queue) (webhook.Queue, error) {
			if gone, err := isGone(ctx, tx, delivery.Company); err != nil || gone {
				return queue, err
			}
			if err := tx.Deliveries().Add(ctx, delivery.After(attempt, chance, tx.Now())); err != nil {
				return queue, err
			}
			return s.judge(ctx, tx, queue, attempt)
		})
		if err != nil {
			return attempts, err
		}
	}
	return attempts, nil
}

// next finds the first event from the cursor on that the endpoint wants as it is now, and moves the cursor there. There is
// none either while the endpoint is disabled, or when it is gone.
func (s *sender) next(ctx context.Context) (endpoint webhook.Endpoint, next *store.Placed, err error) {
	for s.queue.Cursor != 0 && ctx.Err() == nil {
		var placed []store.Placed
		err := s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
			if endpoint, err = r.Webhooks().Get(ctx, s.queue.Endpoint); err != nil {
				return err
			}
			placed, err = r.Outbox().Next(ctx, endpoint.ID, s.queue.Cursor, perLook)
			return err
		})
		if fault.CodeOf(err) == fault.NotFound || err == nil && (!endpoint.Enabled || len(placed) == 0) {
			return endpoint, nil, nil
		}
		if err != nil {
			return endpoint, nil, err
		}
		for _, one := range placed {
			s.queue.Cursor = one.Position
			if endpoint.Wants(one.Event) {
				return endpoint, &one, nil
			}
			s.queue.Cursor++
		}
		if err := s.renew(ctx); err != nil {
			return endpoint, nil, err
		}
	}
	return endpoint, nil, nil
}

// isGone reports whether a company is no more. An empty one is nobody's, and stays.
func isGone(ctx context.Context, tx store.Tx, which id.Company) (bool, error) {
	if which == "" {
		return false, nil
	}
	_, err := tx.Companies().Get(ctx, which)
	if fault.CodeOf(err) == fault.NotFound {
		return true, nil
	}
	return false, err
}

// repeat makes the attempts of one turn at deliveries that are due.
func (s *sender) repeat(ctx context.Context) (attempts int, err error) {
	due, err := s.store.Deliveries().Due(ctx, s.queue.Endpoint, s.clock.Now(), perTurn)
	if err != nil {
		return 0, err
	}
	for _, delivery := range due {
		endpoint, happened, err := s.subject(ctx, delivery)
		if fault.CodeOf(err) == fault.NotFound || err == nil && !endpoint.Enabled {
			return attempts, nil // what was looked up is out of date
		}
		if err != nil {
			return attempts, err
		}
		message, err := s.messageOf(endpoint, happened)
		if err != nil {
			return attempts, err
		}
		attempt, interrupted, err := s.send(ctx, message)
		if err != nil || interrupted {
			return attempts, err // what was interrupted is made again
		}
		chance := s.chance()
		err = s.hold(ctx, func(ctx context.Context, tx store.Tx, queue webhook.Queue) (webhook.Queue, error) {
			delivery, err := tx.Deliveries().Lock(ctx, s.queue.Endpoint, delivery.ID)
			if fault.CodeOf(err) == fault.NotFound {
				return queue, nil // it has gone with its company
			}
			if err != nil {
				return queue, err
			}
			if err := tx.Deliveries().Save(ctx, delivery.After(attempt, chance, tx.Now())); err != nil {
				return queue, err
			}
			return s.judge(ctx, tx, queue, attempt)
		})
		if err != nil || ctx.Err() != nil {
			return attempts, err
		}
		attempts++
	}
	return attempts, nil
}

// subject is what a delivery brings where, as both are now, or fault.NotFound.
func (s *sender) subject(ctx context.Context, delivery webhook.Delivery) (endpoint webhook.Endpoint, happened event.Event, err error) {
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if endpoint, err = r.Webhooks().Get(ctx, s.queue.Endpoint); err != nil {
			return err
		}
		happened, err = r.Activity().Get(ctx, delivery.Event)
		return err
	})
	return endpoint, happened, err
}

// messageOf is what is to be sent of an event now.
func (s *sender) messageOf(endpoint webhook.Endpoint, happened event.Event) (message webhook.Message, err error) {
	now := s.clock.Now()
	message = webhook.Message{ID: happened.ID, URL: endpoint.URL, At: now}
	if message.Body, err = webhook.Body(happened); err != nil {
		return webhook.Message{}, err
	}
	for _, sealed := range endpoint.Secrets(now) {
		secret, err := s.vault.Open(string(endpoint.ID), string(sealed))
		if err != nil {
			return webhook.Message{}, err
		}
		message.Secrets = append(message.Secrets, webhook.Secret(secret))
	}
	return message, nil
}

// grace is how long an attempt may go on when the process stops.
const grace = 3 * time.Second

// send makes an attempt under a lease that lasts for it, and reports whether it was broken off because the process stops.
// Nothing comes between the look at the lease and the attempt: whoever stood still before may have lost it.
func (s *sender) send(ctx context.Context, message webhook.Message) (attempt webhook.Attempt, interrupted bool, err error) {
	if err := s.renew(ctx); err != nil {
		return attempt, false, err
	}
	attempting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	attempt = s.sender.Send(attempting, message)
	return attempt, attempting.Err() != nil, nil
}

// around is how long what is done before and after an attempt may take.
const around = time.Second

// renew renews the lease, unless it lasts for one more attempt.
func (s *sender) renew(ctx context.Context) error {
	if !s.clock.Now().Add(webhook.Patience + around).After(s.queue.LeasedUntil) {
		return nil
	}
	return s.hold(ctx, func(_ context.Context, _ store.Tx, queue webhook.Queue) (webhook.Queue, error) { return queue, nil })
}

// hold writes the cursor down and renews the lease, in one unit with what else is to be written. When the lease is not
// held any more, another sender is at work, and nothing is written: errLost. It goes on when the process stops: what is
// known should not be lost.
func (s *sender) hold(
	ctx context.Context, write func(ctx context.Context, tx store.Tx, queue webhook.Queue) (webhook.Queue, error),
) error {
	var queue webhook.Queue
	var held bool
	err := s.store.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Tx) (err error) {
		queue, err = tx.Outbox().Held(ctx, s.queue.Endpoint, s.queue.Lease)
		if held = err == nil; !held {
			return err
		}
		if s.queue.Cursor != 0 { // otherwise it may have got one meanwhile
			queue.Cursor = s.queue.Cursor
		}
		if queue, err = write(ctx, tx, queue); err != nil {
			return err
		}
		queue.LeasedUntil = tx.Now().Add(webhook.LeaseTerm)
		return tx.Outbox().Hold(ctx, queue)
	})
	if fault.CodeOf(err) == fault.NotFound && !held {
		return errLost
	}
	if err == nil {
		s.queue = queue
	}
	return err
}

// judge tells the queue what came of an attempt, and disables the endpoint when it is to be given up.
func (s *sender) judge(ctx context.Context, tx store.Tx, queue webhook.Queue, attempt webhook.Attempt) (webhook.Queue, error) {
	next, reason := queue.After(attempt)
	if reason == "" {
		return next, nil
	}
	endpoint, err := tx.Webhooks().Lock(ctx, queue.Endpoint)
	if err != nil || !endpoint.Enabled {
		return next, err
	}
	disabled, happened := endpoint.Disable(reason, tx.Now())
	if err := tx.Webhooks().Save(ctx, disabled); err != nil {
		return next, err
	}
	return next, tx.Record(ctx, happened.By(access.System("webhooks").Actor))
}

// chance is a random number from 0 up to 1.
func (s *sender) chance() float64 {
	const precision = 53 // bits of a float64
	random := s.entropy.Bits256()
	return float64(binary.BigEndian.Uint64(random[:])>>(64-precision)) / (1 << precision)
}
