package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"time"

	"unicode/utf8"

	"holdco/domain/agent"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/redact"
	"holdco/domain/run"
	"holdco/domain/usage"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// Gateway is what a worker asks of the gateway. inbound.Leases has more.
type Gateway interface {
	Renew(ctx context.Context, caller agent.Caller, call inbound.LeaseCall) (inbound.LeaseState, error)
	Charge(
		ctx context.Context, caller agent.Caller, call inbound.LeaseCall, charges []cost.Draft,
	) (inbound.LeaseState, []inbound.ChargeOutcome, error)
	End(ctx context.Context, caller agent.Caller, call inbound.LeaseCall, end inbound.LeaseEnd) (inbound.Ended, error)
}

// Worker works on leases with programs.
type Worker struct {
	Gateway    Gateway
	Programs   outbound.Programs
	Clock      outbound.Clock
	GatewayURL string // how programs reach the gateway, without a slash at its end; empty: they do not

	// LongestStop bounds the grace of a program when the context ends; 0: it has its grace.
	LongestStop time.Duration

	// Left is called after the end of a program whose lease had ended otherwise: its company may be gone, with its directory, in which
	// the program may have left something. nil: nobody asks.
	Left func()

	// Env are variables of programs besides those of their configuration: the values of secrets. Hidden are these values, each with
	// what stands for it wherever a program says it.
	Env, Hidden map[string]string

	// Warn is told of charges that a program reported and that could not be read, and of models without a price. nil: nobody asks.
	Warn func(err error)
}

// NotStarted is the failure of an adapter: the work did not begin. The lease is as it was: Release gives the issue back.
type NotStarted struct {
	Cause   error
	Repeats bool // the work may have been done all the same: to give it out again may do it twice
}

// Error says why.
func (n NotStarted) Error() string { return n.Cause.Error() }

// Unwrap returns the cause.
func (n NotStarted) Unwrap() error { return n.Cause }

// Stale tells a worker that the lease of its program has ended.
type Stale struct {
	ByAgent bool // a call of the agent ended it, not a person, a budget or the time
}

// Work starts a program for a lease and waits for its end. It renews the lease meanwhile, charges what the program says that it costs,
// and ends the lease as the program ended: when the context ends, the program is stopped and the lease released. When the lease has
// ended otherwise, which stale says or a call on it, the program is stopped, and only what it cost is charged: at once, or after
// agent.Program.GraceAfterEnd if the agent ended it. It fails with NotStarted, and when the lease could not be ended before it ran out.
func (w Worker) Work(ctx context.Context, lease Lease, program agent.Program, model string, stale <-chan Stale) error {
	hidden := lease.hidden(w.Hidden)
	spent := newMeter(w, lease, usage.NewParser(program.Usage, usage.Options{
		Model: model, Command: program.Command, Threads: lease.threads(),
	}))
	env := maps.Clone(program.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, w.Env)
	running, err := w.Programs.Start(outbound.Program{
		Company: lease.Issue.Company, Issue: lease.Issue.ID, Run: lease.Run.ID,
		Command: program.Command, Directory: program.Directory, Env: lease.env(env, w.GatewayURL),
		Stdin: lease.stdin(program), Context: lease.shown, MCP: mcpFile(w.GatewayURL),
		Instructions: []byte(lease.Context.Agent.Instructions),
		Grace:        program.Grace, Hidden: hidden, Output: spent.write,
	})
	if broken, isBroken := errors.AsType[outbound.WorkspaceError](err); isBroken {
		// Another attempt would find the same: that is the failure of an attempt, not of the adapter.
		return w.end(context.WithoutCancel(ctx), lease, failed("workspace", broken.Error(), ""))
	}
	if err != nil {
		return NotStarted{Cause: err}
	}
	attending := attending{Worker: w, lease: lease, program: program, running: running, spent: spent}
	why := attending.attend(ctx, stale)
	finish := context.WithoutCancel(ctx)
	report := spent.report()
	err = spent.chargeRest(finish)
	if report.Dropped > 0 {
		w.warn(fmt.Errorf("%d charges that the program of run %s reported could not be read, or not in full", report.Dropped, lease.Run.ID))
	}
	if why == leaseEnded || why == agentEnded {
		w.left()
		return err
	}
	report.Message = hideCut(hidden, report.Message, utf8.RuneCountInString(report.Message) == usage.MessageLength)
	report.Result = hideCut(hidden, report.Result, len(report.Result) > usage.ResultSize-utf8.UTFMax)
	end := endOf(why, running.Exit(), program.Usage, report)
	if end.Setback != nil && !end.Setback.Until.IsZero() { // for a gateway, which has no other way to hear of it
		seconds := int64(end.Setback.Until.Sub(w.Clock.Now()) / time.Second)
		end.Failure.RetryAfter = new(min(max(seconds, 0), run.LongestRetry))
	}
	return errors.Join(err, w.end(finish, lease, end))
}

// hideCut hides texts in a message. If that may have been cut, its end is left out where it may be the beginning of one.
func hideCut(hidden redact.Hidden, message string, isCut bool) string {
	if !isCut {
		return hidden.Text(message)
	}
	return string(hidden.Stream().Next([]byte(message)))
}

func (w Worker) warn(err error) {
	if w.Warn != nil {
		w.Warn(err)
	}
}

func (w Worker) left() {
	if w.Left != nil {
		w.Left()
	}
}

// isFinal reports whether a call would fail again.
func isFinal(err error) bool {
	refused := fault.Of(err)
	return refused != nil && refused.Code != fault.Unavailable && refused.Code != fault.RateLimited
}

// unlessFinal passes over refusals that are final.
func unlessFinal(err error) error {
	if isFinal(err) {
		return nil
	}
	return err
}

// Release gives the issue back because its adapter failed. The agent waits then, so it does not get the issue again at once.
func (w Worker) Release(ctx context.Context, lease Lease, why NotStarted) error {
	return w.end(context.WithoutCancel(ctx), lease,
		setBack(agent.Setback{Kind: agent.AdapterFailed, Repeats: why.Repeats}, why.Error()))
}

// end ends the lease, unless the program has done so, or something else.
func (w Worker) end(ctx context.Context, lease Lease, end inbound.LeaseEnd) error {
	err := w.whileLeased(ctx, lease, func(ctx context.Context) error {
		_, err := w.Gateway.End(ctx, lease.caller(), lease.call(), end)
		return err
	})
	switch fault.CodeOf(err) {
	case fault.StaleLease, fault.CompanyArchived: // it has ended
		return nil
	case fault.NotFound, fault.Unauthorized: // its company is gone
		w.left()
		return nil
	}
	if end.Action == issue.Complete && isFinal(err) { // otherwise nobody would be told what was refused
		return errors.Join(err, w.end(ctx, lease, failed("result_refused", "The result was refused: "+err.Error(), "")))
	}
	return err
}

// longestOutage is for how long more than the time of a lease calls on it are repeated: after an outage leases that ran out during it
// stay good for a while.
const longestOutage = 10 * time.Minute

// whileLeased repeats a call that fails because the store cannot be reached, while the lease may last.
func (w Worker) whileLeased(ctx context.Context, lease Lease, call func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(lease.Seconds)*time.Second+longestOutage)
	defer cancel()
	for {
		err := call(ctx)
		if err == nil || isFinal(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryCall):
		}
	}
}
