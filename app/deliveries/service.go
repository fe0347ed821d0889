package deliveries

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"holdco/domain/webhook"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service sends webhooks.
type Service struct {
	store   store.Store
	sender  outbound.WebhookSender
	vault   outbound.Vault
	clock   outbound.Clock
	ids     outbound.IDs
	entropy outbound.Entropy
	log     outbound.Log

	sending sync.WaitGroup // one for each queue in work
}

// New makes the service.
func New(
	s store.Store, sender outbound.WebhookSender, vault outbound.Vault,
	clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy, log outbound.Log,
) *Service {
	return &Service{store: s, sender: sender, vault: vault, clock: clock, ids: ids, entropy: entropy, log: log}
}

// queuesPerStep is how many queues are claimed at once. There is no limit to how many are in work: they wait for other
// machines nearly all of the time, and a limit would let slow endpoints hold up the others.
const queuesPerStep = 50

// Deliver puts the events that are waiting into the outbox and sets a sender to each queue that is due. It does not wait
// for them. It reports whether there may be more to do.
func (s *Service) Deliver(ctx context.Context) (more bool, err error) {
	waits, err := s.store.Outbox().Waits(ctx, s.clock.Now())
	if err != nil || !waits {
		return false, err
	}
	unspread, failed := s.spread(ctx)
	claimed, err := s.claim(ctx)
	for _, queue := range claimed {
		s.sending.Go(func() { s.work(ctx, sender{Service: s, queue: queue}) })
	}
	return unspread || len(claimed) == queuesPerStep, errors.Join(failed, err)
}

// Wait waits for the senders, which stop soon after the context of Deliver has ended.
func (s *Service) Wait() { s.sending.Wait() }

// claim leases the queues that are due. Each claim has a lease of its own: a sender that stood still until its lease had
// ended must not take for its own what the same process has claimed since.
func (s *Service) claim(ctx context.Context) (claimed []webhook.Queue, err error) {
	lease := fmt.Sprintf("%x", s.ids.UUIDv7())
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		claimed, err = tx.Outbox().Claim(ctx, lease, tx.Now().Add(webhook.LeaseTerm), queuesPerStep)
		return err
	})
	return claimed, err
}

// work lets a sender go through its queue, and gives the queue back. When that fails, the queue rests until its lease ends.
func (s *Service) work(ctx context.Context, sender sender) {
	err := contain(func() error { return sender.run(ctx) })
	if stopping := ctx.Err() != nil; stopping || err == nil {
		err = s.release(ctx, sender.queue)
	}
	if err != nil && !errors.Is(err, errLost) {
		s.log.Error(ctx, "The deliveries to the webhook "+string(sender.queue.Endpoint)+" were interrupted; they go on later.", err)
	}
}

// contain turns a panic into a failure like any other: it must not take the requests down with it.
func contain(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return work()
}

// releasing is how long it may take to give a queue back when the process stops.
const releasing = 5 * time.Second

func (s *Service) release(ctx context.Context, queue webhook.Queue) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasing)
	defer cancel()
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.Outbox().Release(ctx, queue)
	})
}
