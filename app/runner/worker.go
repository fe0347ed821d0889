package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"holdco/domain/agent"
	"holdco/domain/anyjson"
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
	GatewayURL string // how programs reach the gateway, without a slash at its end; empty: they do not

	// LongestStop bounds the grace of a program when the context ends; 0: it has its grace.
	LongestStop time.Duration

	// Left is called after the end of a program whose lease had ended otherwise: its company may be gone, with its directory, in which
	// the program may have left something. nil: nobody asks.
	Left func()

	// Env are variables of programs besides those of their configuration: the values of secrets. Hidden are these values, each with
	// what stands for it wherever a program says it.
	Env, Hidden map[string]string

	// Warn is told of charges that a program reported and that could not be read. nil: nobody asks.
	Warn func(err error)
}

// NotStarted is the failure of an adapter: the work did not begin. The lease is as it was: Release gives the issue back.
type NotStarted struct{ Cause error }

// Error says why.
func (n NotStarted) Error() string { return n.Cause.Error() }

// Unwrap returns the cause.
func (n NotStarted) Unwrap() error { return n.Cause }

// Work starts a program for a lease and waits for its end. It renews the lease meanwhile, and ends it as the program ended: when
// the context ends, the program is stopped and the lease released. When the lease has ended otherwise, which stale says or a call
// on it, the program is stopped, and only what it cost is reported. It fails with NotStarted, and when the lease could not be
// ended before it ran out.
func (w Worker) Work(ctx context.Context, lease Lease, program agent.Program, model string, stale <-chan struct{}) error {
	spent := usage.NewParser(program.Usage, usage.Options{Model: model, Command: program.Command})
	env := maps.Clone(program.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, w.Env)
	hidden := lease.hidden(w.Hidden)
	running, err := w.Programs.Start(outbound.Program{
		Company: lease.Issue.Company, Issue: lease.Issue.ID, Run: lease.Run.ID,
		Command: program.Command, Directory: program.Directory, Env: lease.env(env, w.GatewayURL),
		Stdin: lease.stdin(program.Stdin), Context: lease.shown, MCP: mcpFile(w.GatewayURL),
		Grace: program.Grace, Hidden: hidden, Output: spent.Write,
	})
	if broken, isBroken := errors.AsType[outbound.WorkspaceError](err); isBroken {
		// Another attempt would find the same: that is the failure of an attempt, not of the adapter.
		return w.end(context.WithoutCancel(ctx), lease, failed("workspace", broken.Error(), ""))
	}
	if err != nil {
		return NotStarted{err}
	}
	why := w.attend(ctx, lease, running, program.Timeout, stale)
	finish := context.WithoutCancel(ctx)
	report := spent.Report(time.Now())
	report.Message = hideCut(hidden, report.Message)
	if report.Dropped > 0 && w.Warn != nil {
		w.Warn(fmt.Errorf("%d charges that the program of run %s reported could not be read, or not in full", report.Dropped, lease.Run.ID))
	}
	err = w.chargeDue(finish, lease, spent)
	if why == isStale {
		w.left()
		return err
	}
	return errors.Join(err, w.end(finish, lease, endOf(why, running.Exit(), report)))
}

// hideCut hides texts in a message. If it may have been cut, its end is left out where it may be the beginning of one.
func hideCut(hidden redact.Hidden, message string) string {
	if utf8.RuneCountInString(message) < usage.MessageLength {
		return hidden.Text(message)
	}
	return string(hidden.Stream().Next([]byte(message)))
}

func (w Worker) left() {
	if w.Left != nil {
		w.Left()
	}
}

// whyEnded is why a program ended.
type whyEnded int

const (
	byItself whyEnded = iota
	isStale           // its lease has ended
	timedOut
	stopped // Holdco stops
)

// Leases are renewed when a third of their time is over, and calls that failed are repeated in between.
const (
	renewals  = 3
	retryCall = time.Second
)

// attend waits for the end of a program, which it stops when that is due, and renews the lease until then.
func (w Worker) attend(
	ctx context.Context, lease Lease, running outbound.RunningProgram, timeout time.Duration, stale <-chan struct{},
) (why whyEnded) {
	over := time.NewTimer(timeout)
	defer over.Stop()
	every := time.Duration(lease.Seconds) * time.Second / renewals
	renew := time.NewTimer(every)
	defer renew.Stop()
	stop := func(because whyEnded) {
		if why == byItself {
			why = because
		}
		running.Stop()
	}
	stopping := ctx.Done()
	var kill <-chan time.Time
	for {
		select {
		case <-running.Ended():
			return why
		case <-over.C:
			stop(timedOut)
		case <-stale:
			stop(isStale)
			stale = nil
		case <-stopping:
			stop(stopped)
			stopping = nil
			if w.LongestStop > 0 {
				kill = time.After(w.LongestStop)
			}
		case <-kill:
			running.Kill()
		case <-renew.C:
			_, err := w.Gateway.Renew(context.WithoutCancel(ctx), lease.caller(), lease.call())
			switch {
			case err == nil:
				renew.Reset(every)
			case isFinal(err):
				stop(isStale)
			default:
				renew.Reset(retryCall)
			}
		}
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

// endOf is how a lease ends whose program has ended.
func endOf(why whyEnded, exit outbound.Exit, report usage.Report) inbound.LeaseEnd {
	switch {
	case why == stopped:
		return inbound.LeaseEnd{Action: issue.Release}
	case why == timedOut:
		return failed("timeout", "The program did not end in time.", exit.Output)
	case exit.Signal != 0:
		return failed(fmt.Sprintf("signal_%d", exit.Signal), fmt.Sprintf("The signal %d ended the program.", exit.Signal), exit.Output)
	case exit.Code != 0:
		return failed(fmt.Sprintf("exit_%d", exit.Code), fmt.Sprintf("The program ended with exit code %d.", exit.Code), exit.Output)
	case report.IsError:
		return failed("reported_error", "The program reported an error.", report.Message)
	case exit.ResultIsTooLarge:
		const message = "The result file has more than %d bytes. What is larger belongs into other files of the workspace."
		return failed("result_too_large", fmt.Sprintf(message, issue.ResultSize), "")
	}
	return inbound.LeaseEnd{Action: issue.Complete, Result: result(exit)}
}

// mostExplained bounds how much of the output explains a failure, in bytes.
const mostExplained = 4_000

// failed is the end of an attempt that failed. Output, if there is any, explains it.
func failed(code, message, output string) inbound.LeaseEnd {
	output = strings.TrimSpace(output)
	if len(output) > mostExplained {
		output = "... " + strings.ToValidUTF8(output[len(output)-mostExplained:], "")
	}
	if output != "" {
		message += " The end of what it wrote:\n" + printable(output)
	}
	return inbound.LeaseEnd{Action: issue.Fail, Failure: run.FailureDraft{Code: &code, Message: &message}}
}

// printable replaces the characters that a text for people cannot have.
func printable(output string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) {
			return '\uFFFD'
		}
		return r
	}, output)
}

// result is what came of a program that succeeded: what it wrote to its result file, if that is JSON, or else its output.
func result(exit outbound.Exit) []byte {
	var none fault.Problems
	if kept := anyjson.Check("result", exit.Result, issue.ResultSize, &none); kept != "" {
		return []byte(kept)
	}
	output := strings.TrimSpace(exit.Output)
	if output == "" {
		return nil
	}
	text := jsonText(output)
	for len(text) > issue.ResultSize { // it has many characters that JSON escapes
		output = strings.ToValidUTF8(output[len(output)/2:], "")
		text = jsonText(output)
	}
	return text
}

// chargeDue reports what a program cost and was not reported before.
func (w Worker) chargeDue(ctx context.Context, lease Lease, spent *usage.Parser) error {
	for due := spent.Due(cost.MostInCall); len(due) > 0; due = spent.Due(cost.MostInCall) {
		outcomes, err := w.charge(ctx, lease, due)
		if err != nil {
			return err
		}
		var none fault.Problems
		spent.Charged(cost.Parse(due[min(len(outcomes), len(due)):], nil, &none)...) // a gateway may not say what they came to
		for _, outcome := range outcomes {
			spent.Charged(outcome.Entry)
		}
	}
	return nil
}

// charge reports what a program cost.
func (w Worker) charge(ctx context.Context, lease Lease, charges []cost.Draft) (outcomes []inbound.ChargeOutcome, err error) {
	for some := range slices.Chunk(charges, cost.MostInCall) {
		err := w.whileLeased(ctx, lease, func(ctx context.Context) error {
			_, answered, err := w.Gateway.Charge(ctx, lease.caller(), lease.call(), some)
			outcomes = append(outcomes, answered...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("what the program cost could not be reported: %w", err)
		}
	}
	return outcomes, nil
}

// Release gives the issue back because its adapter failed.
func (w Worker) Release(ctx context.Context, lease Lease, cause error) error {
	code, message := "adapter_failed", cause.Error()
	return w.end(context.WithoutCancel(ctx), lease, inbound.LeaseEnd{
		Action: issue.Release, Failure: run.FailureDraft{Code: &code, Message: &message},
	})
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
