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
	store    store.Store
	poster   outbound.WebhookPoster
	vault    outbound.Vault
	clock    outbound.Clock
	ids      outbound.IDs
	entropy  outbound.Entropy
	log      outbound.Log
	parallel Parallel

	running   sync.WaitGroup // workers, and attempts
	fannedOut time.Time      // when the last fan-out ended
}

// Parallel is how many attempts at one endpoint may be in flight.
type Parallel int

// New makes the service.
func New(
	s store.Store, poster outbound.WebhookPoster, vault outbound.Vault,
	clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy, log outbound.Log, parallel Parallel,
) *Service {
	return &Service{store: s, poster: poster, vault: vault, clock: clock, ids: ids, entropy: entropy, log: log, parallel: parallel}
}

// queuesPerStep is how many queues are claimed at once. There is no limit to how many workers run: they wait for other
// machines nearly all of the time, and a limit would let slow endpoints delay the others.
const queuesPerStep = 50

// Deliver enqueues new events and starts a worker for each queue that is due. It does not wait for them. It reports whether
// there may be more to do. It is called by one goroutine.
func (s *Service) Deliver(ctx context.Context) (more bool, err error) {
	work, err := s.store.Outbox().Work(ctx, s.clock.Now())
	if err != nil {
		return false, err
	}
	var failed error
	if work.Unqueued {
		s.pace(ctx)
		more, failed = s.fanOut(ctx)
	}
	if !work.Unqueued && !work.Due {
		return false, nil
	}
	claimed, err := s.claim(ctx)
	for _, queue := range claimed {
		s.running.Go(func() { s.work(ctx, queue) })
	}
	return more || len(claimed) == queuesPerStep, errors.Join(failed, err)
}

// Wait waits for the workers, which stop soon after the context of Deliver has ended.
func (s *Service) Wait() { s.running.Wait() }

// claim leases the queues that are due. Each claim has a lease of its own: a worker that was suspended until its lease had
// ended must not mistake what the same process has claimed since for its own.
func (s *Service) claim(ctx context.Context) (claimed []webhook.Queue, err error) {
	lease := fmt.Sprintf("%x", s.ids.UUIDv7())
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		claimed, err = tx.Outbox().Claim(ctx, lease, tx.Now().Add(webhook.LeaseTerm), queuesPerStep)
		return err
	})
	return claimed, err
}

// work works through a queue, and releases it. When that fails, the queue waits until its lease ends.
func (s *Service) work(ctx context.Context, queue webhook.Queue) {
	w := newWorker(s, queue)
	err := contain(func() error { return w.run(ctx) })
	if stopping := ctx.Err() != nil; stopping || err == nil {
		err = s.release(ctx, w.progress())
	}
	if err != nil && !errors.Is(err, errLeaseLost) {
		s.log.Error(ctx, "The deliveries to the webhook "+string(queue.Endpoint)+" were interrupted; they continue later.", err)
	}
}

// contain turns a panic into a failure like any other: it must not end the process.
func contain(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return work()
}

// releaseTimeout is how long it may take to release a queue when the process stops.
const releaseTimeout = 5 * time.Second

func (s *Service) release(ctx context.Context, queue webhook.Queue) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.Outbox().Release(ctx, queue)
	})
}
