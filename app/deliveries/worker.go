package deliveries

import (
	"context"
	"errors"
	"time"

	"holdco/domain/webhook"
)

// worker processes the queue of one endpoint while it has the lease. Its fields belong to the goroutine of run.
// Attempts and the recording of batches run in other goroutines and report to it by channels.
type worker struct {
	*Service
	queue webhook.Queue // as last saved
	end   int64         // all events before this position are read; 0: the queue has no cursor
	backlog
	target

	exhausted bool // the last read found nothing more
	inFlight  int
	results   chan result // of attempts

	unrecorded []result
	lingering  <-chan time.Time // fires when unrecorded results have waited for linger
	lingered   bool
	recording  bool
	recorded   chan recorded
}

const (
	// linger is how long a result may wait for others, so that a fast endpoint needs fewer transactions.
	linger     = 10 * time.Millisecond
	mostRecord = 64 // results that are recorded without lingering

	// pollEvery is how often a worker polls for new events while an attempt in flight keeps it running.
	pollEvery = 500 * time.Millisecond

	// stopTimeout is how long an attempt in flight, and the retries of its recording, may continue when the process stops.
	stopTimeout = 3 * time.Second
)

// errLeaseLost means that another worker has the queue now.
var errLeaseLost = errors.New("the lease of the queue is lost")

func newWorker(s *Service, queue webhook.Queue) *worker {
	return &worker{
		Service: s, queue: queue, end: queue.Cursor, backlog: newBacklog(),
		results: make(chan result, s.parallel), recorded: make(chan recorded, 1),
	}
}

// run makes the attempts that are due, until there are none or ctx ends.
func (w *worker) run(ctx context.Context) error {
	attempts, cancel := outlasting(ctx, stopTimeout)
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for stopping := ctx.Done(); ; {
		if ctx.Err() == nil && w.covered() {
			if err := w.whileLeased(ctx, w.queue, func() error { return w.read(ctx) }); err == nil {
				w.start(attempts)
			} else if ctx.Err() == nil {
				return err
			}
		}
		if w.isDone(ctx) {
			return nil
		}
		w.flush(ctx)
		if w.canRead(ctx) && w.covered() {
			continue
		}
		var err error
		select {
		case one := <-w.results:
			err = w.settle(one)
		case batch := <-w.recorded:
			err = w.continueAfter(batch)
		case <-w.lingering:
			w.lingering, w.lingered = nil, true
		case <-poll.C:
			w.exhausted = w.exhausted && w.inFlight == int(w.parallel)
		case <-stopping:
			stopping = nil
		}
		if err != nil {
			return err
		}
	}
}

// covered reports whether the lease lasts for one more attempt and its recording.
func (w *worker) covered() bool { return covers(w.queue.LeasedUntil, w.clock.Now()) }

func covers(leasedUntil, now time.Time) bool {
	const recording = time.Second
	return !now.Add(webhook.Timeout + recording).After(leasedUntil)
}

// start starts as many attempts as may be in flight.
func (w *worker) start(ctx context.Context) {
	for w.inFlight < int(w.parallel) && !w.paused {
		t := w.next()
		if t == nil {
			return
		}
		if t.retry == nil && !w.endpoint.Wants(t.Event) { // not any more
			w.attempted(t)
			w.close(t)
			continue
		}
		w.inFlight++
		message, until := w.message(t), w.queue.LeasedUntil
		w.running.Go(func() { w.results <- w.attempt(ctx, t, message, until) })
	}
}

// settle handles the result of an attempt.
func (w *worker) settle(one result) error {
	w.inFlight--
	switch {
	case one.err != nil:
		return one.err
	case one.brokenOff: // it is made again
	case one.notMade:
		w.putBack(one.task)
	default:
		w.attempted(one.task)
		w.toRecord(one)
	}
	return nil
}

func (w *worker) toRecord(one result) {
	if len(w.unrecorded) == 0 {
		w.lingering = time.After(linger)
	}
	w.unrecorded = append(w.unrecorded, one)
}

// isDone reports whether there is nothing left to do for now.
func (w *worker) isDone(ctx context.Context) bool {
	if w.inFlight > 0 || w.recording || len(w.unrecorded) > 0 {
		return false
	}
	return ctx.Err() != nil || w.paused || w.exhausted && len(w.ready)+len(w.retries) == 0
}

// progress returns the queue with its cursor at the first event that is not finished.
func (w *worker) progress() webhook.Queue { return reached(w.queue, w.end, w.openBut(nil)) }

func reached(queue webhook.Queue, end int64, unfinished []int64) webhook.Queue {
	if end == 0 {
		return queue
	}
	return queue.Reached(end, unfinished)
}
