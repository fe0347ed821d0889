package retention

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/retention"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Retention.
type Service struct {
	store   store.Store
	signer  outbound.Signer
	logs    outbound.OldRunLogs
	clock   outbound.Clock
	keep    retention.Settings
	counter Counter

	running  sync.Mutex // for Run
	logsDone time.Time  // logs of this host that may go from before it are gone; for Run alone
}

// Counter is told how many rows of a kind were removed; nil: nobody asks.
type Counter func(of retention.Kind, rows int)

var _ inbound.Retention = (*Service)(nil)

// New returns the use cases.
func New(
	s store.Store, signer outbound.Signer, logs outbound.OldRunLogs, clock outbound.Clock, keep retention.Settings, counter Counter,
) *Service {
	if counter == nil {
		counter = func(retention.Kind, int) {}
	}
	return &Service{store: s, signer: signer, logs: logs, clock: clock, keep: keep, counter: counter}
}

// pause is between two units of work, and leaves the store to others.
const pause = 10 * time.Millisecond

func rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// Run is a job: it removes all that is old enough, in small units, and then gives space back. A kind that fails holds up no other.
func (s *Service) Run(ctx context.Context) (more bool, err error) {
	s.running.Lock()
	defer s.running.Unlock()
	now := s.clock.Now()
	failures := s.others(ctx) // first: a delivery that is gone keeps no entry
	for _, of := range retention.Kinds {
		if before := s.keep.Of(of).Cutoff(now); !before.IsZero() {
			failures = errors.Join(failures, s.keepUp(ctx, of, before))
		}
	}
	return false, errors.Join(failures, s.tidy(ctx))
}

// keepUp makes the pass over a kind that there is once a day.
func (s *Service) keepUp(ctx context.Context, of retention.Kind, before time.Time) error {
	state, err := s.store.Retention().State(ctx, of)
	if err != nil {
		return err
	}
	hasLogs := of == retention.Runs && s.logsDone.Before(before)
	if !state.Done.Before(before) && !hasLogs {
		return nil
	}
	if _, err = s.pass(ctx, of, before, false, access.System("retention").Actor); err == nil && hasLogs {
		s.logsDone = before
	}
	return err
}

// Prune implements inbound.Retention.
func (s *Service) Prune(ctx context.Context, caller access.Caller, wanted inbound.Pruning) ([]retention.Result, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return nil, err
	}
	kinds := retention.Kinds
	if wanted.Only != nil {
		var err error
		if kinds, err = retention.ParseKinds(wanted.Only); err != nil {
			return nil, refused("only", "%v", err)
		}
	}
	keeps := make([]retention.Period, len(kinds))
	for n, of := range kinds {
		keeps[n] = s.keep.Of(of)
		if wanted.OlderThan == retention.Off || wanted.Only == nil && keeps[n] == retention.Off {
			continue
		}
		if least := retention.LeastDays(of); !wanted.OlderThan.IsAtLeast(least) {
			return nil, refused("olderThan", "%s must be kept for at least %dd, not %s", of, least, wanted.OlderThan)
		}
		keeps[n] = wanted.OlderThan
	}
	now := s.clock.Now()
	results := make([]retention.Result, len(kinds))
	for n, of := range kinds {
		results[n].Kind = of
		if keeps[n] == retention.Off {
			continue
		}
		var err error
		if results[n], err = s.pass(ctx, of, keeps[n].Cutoff(now), wanted.DryRun, caller.Actor); err != nil {
			return nil, fmt.Errorf("%s: %w", of, err)
		}
	}
	if wanted.DryRun {
		return results, nil
	}
	return results, s.tidy(ctx)
}

// tidy gives space back, in small units.
func (s *Service) tidy(ctx context.Context) error {
	for {
		more, err := s.store.Tidy(ctx)
		if err != nil || !more {
			return err
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

func refused(field, format string, args ...any) error {
	return fault.Validation(fault.Problems{fault.Fieldf(field, fault.UnknownValue, format, args...)})
}

// pass is one pass over one kind.
type pass struct {
	*Service
	retention.Result
	isDry bool
}

// pass removes what may go of a kind, or counts it. What it has removed is an event in the end. A pass that was cut short is gone on with
// by the next one, whose event counts what both have removed.
func (s *Service) pass(
	ctx context.Context, of retention.Kind, before time.Time, isDry bool, actor event.Actor,
) (retention.Result, error) {
	p := &pass{s, retention.Result{Kind: of, Before: before}, isDry}
	var err error
	files := 0
	switch of {
	case retention.Activity, retention.Audit:
		err = sweep(ctx, p, s.entries(of))
	case retention.Runs:
		if err = sweep(ctx, p, checkpoints()); err == nil {
			files, err = p.removeLogs(ctx)
		}
	case retention.Removed:
		err = sweep(ctx, p, removedLeads())
	}
	if err != nil && files > 0 {
		err = errors.Join(err, s.note(ctx, of, files))
	}
	if err != nil || isDry {
		return p.Result, err
	}
	return p.Result, s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		state, err := tx.Retention().Hold(ctx, of)
		if err != nil {
			return err
		}
		if count := state.Removed + int64(files); count > 0 {
			if err := tx.Record(ctx, retention.Pruned(of, count, before).By(actor)); err != nil {
				return err
			}
		}
		if state.Done.Before(before) {
			state.Done = before
		}
		return tx.Retention().Save(ctx, of, retention.State{Done: state.Done})
	})
}

// note keeps how many files a pass has removed that was cut short: those of a unit are counted in it.
func (s *Service) note(ctx context.Context, of retention.Kind, files int) error {
	return s.store.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded() // the pass that goes on has the event
		state, err := tx.Retention().Hold(ctx, of)
		if err != nil {
			return err
		}
		state.Removed += int64(files)
		return tx.Retention().Save(ctx, of, state)
	})
}

// removeLogs removes the logs of runs on this host that may go, and returns how many it has removed.
func (p *pass) removeLogs(ctx context.Context) (removed int, err error) {
	found, err := p.logs.WrittenBefore(p.Before)
	if err != nil {
		return 0, err
	}
	for _, one := range found {
		of, err := p.store.Retention().Run(ctx, one.Run)
		switch {
		case fault.CodeOf(err) == fault.NotFound: // of another store, say
			continue
		case err != nil:
			return removed, err
		case !of.MayGo(p.Before):
			continue
		}
		if !p.isDry {
			if err := p.logs.Remove(one.Company, one.Run); err != nil {
				return removed, err
			}
			removed++
			p.counter(p.Kind, 1)
		}
		p.Rows++
		p.Bytes += one.Bytes
	}
	return removed, nil
}
