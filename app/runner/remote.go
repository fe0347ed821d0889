package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// Remote does what Service does for an agent of the adapter process, in a process that has no store: it comes through the
// gateway of a server with the token of the agent. Calls fail with a fault, or with another error when they may succeed later.
type Remote struct {
	// Who says who the agent is.
	Who func(ctx context.Context) (string, error)

	// Key returns a new idempotency key.
	Key func() string

	// Claim leases the next issue, and waits for one so many seconds. It returns the lease as the gateway shows it; nil: there is none.
	Claim func(ctx context.Context, key string, wait int) ([]byte, error)

	// Ended returns why the lease of a run that has a token has ended, and whether its agent ended it; empty: the run is open.
	Ended func(ctx context.Context, runToken access.Value, which id.Lease) (reason string, byAgent bool, err error)

	// Gateway is the gateway for the run that has a token.
	Gateway func(runToken access.Value) Gateway

	Programs   outbound.Programs
	Clock      outbound.Clock
	GatewayURL string // as Worker has it
	Duty       agent.Duty
	Model      string // of charges that name none
	IsOnce     bool   // one issue, if there is one

	Say  func(line string) // tells people how it goes
	Warn func(err error)   // tells them what went wrong, and that it goes on
}

// Run works on issues until the context ends: then it stops the programs and releases the leases. What an earlier process left
// running, it kills first. It fails when a program cannot be started, and when the gateway lets the agent no longer in; what runs
// then is finished before it returns.
func (r Remote) Run(ctx context.Context) error {
	if err := r.endLeft(); err != nil {
		return err
	}
	claiming, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := r.insist(claiming, func(ctx context.Context) error {
		who, err := r.Who(ctx)
		if err == nil {
			r.Say(who)
		}
		return err
	})
	if err != nil {
		return unlessEnded(ctx, err)
	}
	var working sync.WaitGroup
	err = r.claimAll(claiming, func(lease Lease, done func()) {
		working.Go(func() {
			defer done()
			if err := fault.Contain(func() error { return r.work(ctx, lease) }); err != nil {
				stop(err)
			}
		})
	})
	if waited := r.await(ctx, &working, unlessEnded(ctx, err)); waited != nil {
		return waited
	}
	if cause := context.Cause(claiming); ctx.Err() == nil && cause != nil {
		return cause
	}
	return unlessEnded(ctx, err)
}

// endLeft kills the programs of processes that have ended. Their leases run out: their tokens are lost.
func (r Remote) endLeft() error {
	ended, err := r.Programs.Ended()
	for _, holder := range ended {
		r.Say("An earlier process was killed; what it left running has ended now.")
		err = errors.Join(err, r.Programs.Forget(holder))
	}
	return err
}

// claimAll claims issues and has them worked on, as many at once as it may, until the context ends.
func (r Remote) claimAll(ctx context.Context, begin func(lease Lease, done func())) error {
	slots := make(chan struct{}, r.Duty.Concurrent)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		shown, err := r.claim(ctx)
		if err != nil {
			return err
		}
		if shown == nil {
			r.Say("There is nothing to do.")
			return nil
		}
		lease, err := ParseLease(shown)
		if err != nil {
			return err
		}
		r.Say(fmt.Sprintf("%s, attempt %d", name(lease), lease.Issue.Attempt))
		begin(lease, func() { <-slots })
		if r.IsOnce {
			return nil
		}
	}
}

// leastWait keeps claims apart that are answered at once although they were to wait.
const leastWait = time.Second

// claim claims until there is an issue; once it returns nil when there is none. All claims have one key, so that the lease of a
// lost answer comes with the next one.
func (r Remote) claim(ctx context.Context) (shown []byte, err error) {
	key, wait := r.Key(), inbound.MostWait
	if r.IsOnce {
		wait = 0
	}
	for ctx.Err() == nil {
		apart := time.After(leastWait)
		err = r.insist(ctx, func(ctx context.Context) error {
			shown, err = r.Claim(ctx, key, wait)
			return err
		})
		if err != nil && ctx.Err() != nil {
			r.giveBack(ctx, key)
		}
		if shown != nil || err != nil || r.IsOnce {
			return shown, err
		}
		select {
		case <-apart:
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

// mostGivenBack bounds how long giveBack takes.
const mostGivenBack = 10 * time.Second

// giveBack releases the lease that a claim under a key may have got although its answer is lost: the same claim gets it again. If it
// had got none, and there is an issue now, that is claimed and released.
func (r Remote) giveBack(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mostGivenBack)
	defer cancel()
	shown, err := r.Claim(ctx, key, 0)
	if err == nil && shown != nil {
		var lease Lease
		if lease, err = ParseLease(shown); err == nil {
			err = Worker{Gateway: r.Gateway(lease.RunToken)}.end(ctx, lease, inbound.LeaseEnd{Action: issue.Release})
		}
		if err == nil {
			r.Say(name(lease) + ": released")
		}
	}
	if err != nil && !isFinal(err) {
		r.Warn(fmt.Errorf("whether the last claim got an issue is not known; if so, its lease runs out by itself: %w", err))
	}
}

// The pauses between calls that fail because the gateway cannot be reached grow from the first to the last.
const firstPause, lastPause = time.Second, 30 * time.Second

// insist repeats a call until it succeeds, is refused, or the context ends.
func (r Remote) insist(ctx context.Context, call func(ctx context.Context) error) error {
	hasFailed := false
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := call(ctx)
		if err == nil && hasFailed {
			r.Say("The gateway answers again.")
		}
		// An archived company may be restored.
		if err == nil || ctx.Err() != nil || isFinal(err) && fault.CodeOf(err) != fault.CompanyArchived {
			return err
		}
		if !hasFailed {
			r.Warn(fmt.Errorf("%w; trying again", err))
		}
		hasFailed = true
		if refused := fault.Of(err); refused != nil {
			pause = max(pause, refused.RetryAfter)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// work works on a lease until it has ended. It fails when the program could not be started.
func (r Remote) work(ctx context.Context, lease Lease) error {
	watching, end := context.WithCancel(ctx)
	defer end()
	seen := &witness{Gateway: r.Gateway(lease.RunToken)}
	worker := Worker{Gateway: seen, Programs: r.Programs, Clock: r.Clock, GatewayURL: r.GatewayURL, Warn: r.Warn}
	stale := make(chan Stale, 1)
	go r.watch(watching, lease, seen, stale)
	err := worker.Work(ctx, lease, *r.Duty.Program, r.Model, stale)
	failure, hasNotStarted := errors.AsType[NotStarted](err)
	if hasNotStarted {
		err = worker.Release(ctx, lease, failure)
	}
	if err != nil {
		r.Warn(fmt.Errorf("%s: %w", name(lease), err))
	} else {
		r.Say(name(lease) + ": " + seen.outcome())
	}
	if hasNotStarted {
		return failure
	}
	return nil
}

// looksRemotely is how often it is looked whether a lease has ended at the server.
const looksRemotely = 5 * time.Second

// watch sends how the lease has ended.
func (r Remote) watch(ctx context.Context, lease Lease, seen *witness, stale chan<- Stale) {
	for sleep(ctx, looksRemotely) == nil {
		reason, byAgent, err := r.Ended(ctx, lease.RunToken, lease.ID)
		if reason != "" || isFinal(err) {
			seen.isOver(reason, err)
			stale <- Stale{byAgent}
			return
		}
	}
}

// await waits for what runs, after the end of the context no longer than that takes with a gateway that answers. Why is why no
// more is claimed, nil when that is as it should be.
func (r Remote) await(ctx context.Context, working *sync.WaitGroup, why error) error {
	const most, soon = 30 * time.Second, time.Second
	done := make(chan struct{})
	go func() {
		working.Wait()
		close(done)
	}()
	if why != nil {
		select {
		case <-done:
			return nil
		case <-time.After(soon):
			r.Say("No more issues are claimed; what runs is finished.")
		}
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-done:
		return nil
	case <-time.After(r.Duty.Program.Grace + most):
		return errors.New("leases could not be released because the gateway does not answer; they run out by themselves")
	}
}

// unlessEnded passes over errors that come of the end of the context.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// name is what people call the issue of a lease by.
func name(lease Lease) string { return fmt.Sprintf("#%d %s", lease.Issue.Number, lease.Issue.Title) }

// witness sees how a lease ends.
type witness struct {
	Gateway

	mutex  sync.Mutex
	how    string // it was ended here
	reason string // it has ended otherwise
}

// Renew notes why the lease has ended.
func (w *witness) Renew(ctx context.Context, caller agent.Caller, call inbound.LeaseCall) (inbound.LeaseState, error) {
	state, err := w.Gateway.Renew(ctx, caller, call)
	w.isOver("", err)
	return state, err
}

// End notes how the lease ends.
func (w *witness) End(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, end inbound.LeaseEnd,
) (inbound.Ended, error) {
	ended, err := w.Gateway.End(ctx, caller, call, end)
	w.isOver("", err)
	if err == nil {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.how = howEnded(end)
	}
	return ended, err
}

// isOver notes that the lease has ended otherwise, if that is known now.
func (w *witness) isOver(reason string, err error) {
	if refused := fault.Of(err); reason == "" && refused != nil && isFinal(err) {
		reason = string(refused.Code)
		if detail, ok := refused.Details["reason"].(string); ok {
			reason = detail
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.reason == "" {
		w.reason = reason
	}
}

// outcome is how the lease ended, for people.
func (w *witness) outcome() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.how != "" {
		return w.how
	}
	return "its lease had ended: " + w.reason
}

func howEnded(end inbound.LeaseEnd) string {
	how := string(run.ReasonOf(end.Action))
	if message := end.Failure.Message; message != nil {
		first, _, _ := strings.Cut(*message, wrote)
		first, _, _ = strings.Cut(first, "\n")
		how += ": " + first
	}
	return how
}
