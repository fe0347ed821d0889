package deliveries

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdco/app/retries"
	"holdco/domain/fault"
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

// New returns the use cases. Nothing is sent before Deliver is called.
func New(
	s store.Store, poster outbound.WebhookPoster, vault outbound.Vault,
	clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy, log outbound.Log, parallel Parallel,
) *Service {
	return &Service{store: s, poster: poster, vault: vault, clock: clock, ids: ids, entropy: entropy, log: log, parallel: parallel}
}

// queuesPerStep is how many queues are claimed at once. The number of workers is not limited: they nearly always wait
// for the network, and with a limit slow endpoints would delay the others.
const queuesPerStep = 50

// Deliver enqueues new events and starts a worker for each queue that is due. It does not wait for the workers. It
// reports whether there may be more to do. Only one goroutine may call it.
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
	process := s.work
	if err != nil {
		process = s.release // what was claimed all the same, if the outcome is unknown
	}
	for _, queue := range claimed {
		s.running.Go(func() { s.tell(ctx, queue, process(ctx, queue)) })
	}
	return more || len(claimed) == queuesPerStep, errors.Join(failed, err)
}

// Wait waits for the workers, which stop soon after the context of Deliver has ended.
func (s *Service) Wait() { s.running.Wait() }

// claim leases the queues that are due; if it fails, those that it returns may be leased or not. Each claim uses a new lease id, so
// that a worker that was suspended until its lease ended cannot mistake a later claim of the same process for its own.
func (s *Service) claim(ctx context.Context) (claimed []webhook.Queue, err error) {
	lease := fmt.Sprintf("%x", s.ids.UUIDv7())
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		claimed, err = tx.Outbox().Claim(ctx, lease, tx.Now().Add(webhook.LeaseTerm), queuesPerStep)
		return err
	})
	return claimed, err
}

// work processes a queue and releases it. If that fails, the queue becomes free when its lease ends.
func (s *Service) work(ctx context.Context, queue webhook.Queue) error {
	w := newWorker(s, queue)
	err := fault.Contain(func() error { return w.run(ctx) })
	if stopping := ctx.Err() != nil; stopping || err == nil {
		err = s.release(ctx, w.progress())
	}
	return err
}

// tell logs why the work on a queue failed, if it did.
func (s *Service) tell(ctx context.Context, queue webhook.Queue, err error) {
	if err != nil && !errors.Is(err, errLeaseLost) {
		s.log.Error(ctx, "The deliveries to the webhook "+string(queue.Endpoint)+" were interrupted; they continue later.", err)
	}
}

// releaseTimeout is how long the release of a queue may continue when the process stops.
const releaseTimeout = 5 * time.Second

func (s *Service) release(ctx context.Context, queue webhook.Queue) error {
	ctx, cancel := outlasting(ctx, releaseTimeout)
	defer cancel()
	return s.whileLeased(ctx, queue, func() error {
		return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return tx.Outbox().Release(ctx, queue) })
	})
}

// outlasting returns a context that ends some time after ctx.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, end) })
	return lasting, func() {
		stop()
		end()
	}
}

// whileLeased tries do again while the store is unavailable, until the lease of the queue or ctx ends. A do that failed may have been
// committed.
func (s *Service) whileLeased(ctx context.Context, queue webhook.Queue, do func() error) error {
	isPatient := func(pause time.Duration) bool { return s.clock.Now().Add(pause).Before(queue.LeasedUntil) }
	return retries.WhileUnavailable(ctx, isPatient, do)
}
