package runner

import (
	"context"
	"time"

	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// Leases are renewed when a third of their time is over, and calls that failed are repeated in between.
const (
	renewals  = 3
	retryCall = time.Second
)

// attending is the time from the start of a program to its end.
type attending struct {
	Worker

	lease   Lease
	program agent.Program
	running outbound.RunningProgram
	spent   *meter

	why       ending
	lastWords *time.Timer // ends the time that the program has after its work is done; it runs only then
	renewal   *time.Timer
}

// attend waits for the end of the program, which it stops when that is due. Until then it renews the lease, and charges what the program
// has said that it costs.
func (a *attending) attend(ctx context.Context, stale <-chan Stale) ending {
	timeout := time.NewTimer(a.program.Timeout)
	defer timeout.Stop()
	a.renewal = time.NewTimer(a.renewsEvery())
	defer a.renewal.Stop()
	a.lastWords = time.NewTimer(a.program.GraceAfterEnd)
	a.lastWords.Stop()
	defer a.lastWords.Stop()
	serverStops := ctx.Done()
	var kill <-chan time.Time
	for {
		select {
		case <-a.running.Ended():
			return a.why
		case <-timeout.C:
			a.stop(timedOut)
		case how := <-stale:
			stale = nil
			a.leaseHasEnded(how)
		case isDone := <-a.spent.done:
			if isDone {
				a.lastWords.Reset(a.program.GraceAfterEnd)
			} else if a.why != agentEnded { // it works on
				a.lastWords.Stop()
			}
		case <-a.lastWords.C:
			a.stop(saidItIsDone)
		case <-serverStops:
			a.stop(holdcoStops)
			serverStops = nil
			if a.LongestStop > 0 {
				kill = time.After(a.LongestStop)
			}
		case <-kill:
			a.running.Kill()
		case <-a.renewal.C:
			a.renew(context.WithoutCancel(ctx))
		}
	}
}

func (a *attending) renewsEvery() time.Duration {
	return time.Duration(a.lease.Seconds) * time.Second / renewals
}

// stop stops the program. Of several reasons the first counts.
func (a *attending) stop(why ending) {
	if a.why == byItself {
		a.why = why
	}
	a.running.Stop()
}

// leaseHasEnded stops the program, unless the agent itself ended the lease: then the program has time to say what it cost.
func (a *attending) leaseHasEnded(how Stale) {
	a.renewal.Stop()
	switch {
	case !how.ByAgent:
		a.stop(leaseEnded)
	case a.why == byItself:
		a.why = agentEnded
		a.lastWords.Reset(a.program.GraceAfterEnd)
	}
}

// renew charges what is new, so that budgets see it, and renews the lease.
func (a *attending) renew(ctx context.Context) {
	a.spent.chargeNew(ctx)
	_, err := a.Gateway.Renew(ctx, a.lease.caller(), a.lease.call())
	switch {
	case err == nil:
		a.renewal.Reset(a.renewsEvery())
	case isFinal(err):
		byAgent, _ := fault.Of(err).Details["endedByAgent"].(bool)
		a.leaseHasEnded(Stale{byAgent})
	default:
		a.renewal.Reset(retryCall)
	}
}
