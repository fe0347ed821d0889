package runner

import (
	"context"
	"errors"
	"time"

	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/domain/usage"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// looksEvery is how often it is looked for processes that have ended.
const looksEvery = 10 * time.Second

// releaseLeft releases the leases of processes on this host that have ended. Their programs are dead.
func (s *Service) releaseLeft(ctx context.Context) error {
	now := s.clock.Now()
	if s.settings.Processes == 0 || now.Sub(s.looked).Abs() < looksEvery {
		return nil
	}
	s.looked = now
	ended, err := s.programs.Ended()
	if err != nil {
		return err
	}
	var failures []error
	for _, holder := range ended {
		failures = append(failures, s.releaseAll(ctx, holder))
	}
	return errors.Join(failures...)
}

// serverStopped is why leases of other processes end.
var serverStopped = run.FailureDraft{Code: new("server_stopped"), Message: new("The server that ran the program ended.")}

func (s *Service) releaseAll(ctx context.Context, holder string) error {
	open, err := s.store.Runs().OpenOfHolder(ctx, holder)
	if err != nil {
		return err
	}
	for _, left := range open {
		r, err := s.store.Runs().Get(ctx, left.ID)
		if err != nil {
			return err
		}
		if err := s.chargeLeft(ctx, r); err != nil {
			s.log.Error(ctx, "What the program of the run "+string(r.ID)+" cost may be incomplete.", err)
		}
		if err := s.release(ctx, r, serverStopped); err != nil {
			return err
		}
	}
	return s.programs.Forget(holder)
}

// chargeLeft charges what the program of a run has shown that a process ran which has ended. The log has it.
func (s *Service) chargeLeft(ctx context.Context, r run.Run) error {
	a, err := s.store.Agents().Get(ctx, r.Agent)
	if err != nil {
		return err
	}
	duty, isRun := a.Duty()
	if !isRun || !duty.IsMetered() {
		return nil
	}
	threads, err := s.store.Runs().Sessions(ctx, r.Issue, r.ID)
	if err != nil {
		return err
	}
	parser := usage.NewParser(duty.Program.Usage, usage.Options{Model: a.Model, Command: duty.Program.Command, Threads: threads})
	for from, isMore := int64(0), true; isMore; {
		written, next, err := s.logs.Read(r.Company, r.ID, from)
		if fault.CodeOf(err) == fault.NotFound { // the program never started
			return nil
		}
		if err != nil {
			return err
		}
		parser.Write(written)
		from, isMore = next, len(written) > 0
	}
	for first := 1; ; first += cost.MostInCall {
		charged, err := s.store.Runs().Charges(ctx, r.ID, usage.Keys(first, cost.MostInCall))
		if err != nil {
			return err
		}
		parser.Restore(charged)
		if len(charged) < cost.MostInCall {
			break
		}
	}
	lease := Lease{ID: r.Lease.ID, Token: r.Lease.Token, Seconds: int64(r.Lease.Time / time.Second)}
	lease.Issue.ID, lease.Issue.Company, lease.Run.ID, lease.Run.Agent = r.Issue, r.Company, r.ID, r.Agent
	left := newMeter(Worker{Gateway: s.leases, Clock: s.clock, Warn: s.warn}, lease, parser)
	left.report() // the output has ended
	return left.chargeRest(ctx)
}

// releaseStrays releases those of the leases of this process that nobody here works on: it could not end them, or it does not know
// that it was granted them, because the store failed in that moment.
func (s *Service) releaseStrays(ctx context.Context, open []store.OpenRun) error {
	for _, stray := range open {
		s.mutex.Lock()
		_, isWorkedOn := s.working[stray.ID]
		s.mutex.Unlock()
		if isWorkedOn {
			continue
		}
		r, err := s.store.Runs().Get(ctx, stray.ID)
		if err != nil {
			return err
		}
		if err := s.release(ctx, r, run.FailureDraft{}); err != nil {
			return err
		}
	}
	return nil
}

// release ends a lease that no program works on.
func (s *Service) release(ctx context.Context, left run.Run, why run.FailureDraft) error {
	call := inbound.LeaseCall{Lease: left.Lease.ID, Token: &left.Lease.Token}
	_, err := s.leases.End(ctx, agent.Caller{ID: left.Agent, Company: left.Company}, call, inbound.LeaseEnd{
		Action: issue.Release, Failure: why,
	})
	return unlessFinal(err) // it has ended, or something else ends it
}
