package backups

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Settings say which backups a server makes.
type Settings struct {
	Folder     string // where they are
	Every      time.Duration
	Keep       backup.Selection
	Recipients []string // they are encrypted for them; none: they are not encrypted
	Version    string   // of the program
}

// Schedule makes backups from time to time. Of several servers on one store, one makes each.
type Schedule struct {
	backups  *Service
	store    store.Store
	settings Settings
	log      outbound.Log
	pace     time.Duration // see backup.RenewEvery
	failures atomic.Int64
}

// Failures returns how many backups have failed in this process.
func (s *Schedule) Failures() int64 { return s.failures.Load() }

// NewSchedule returns the use case.
func NewSchedule(of *Service, s store.Store, settings Settings, log outbound.Log) *Schedule {
	return &Schedule{backups: of, store: s, settings: settings, log: log, pace: backup.RenewEvery}
}

// itself is who makes backups.
var itself = access.System("backups")

// State returns what the store keeps of the schedule.
func (s *Schedule) State(ctx context.Context) (backup.Schedule, error) {
	return s.store.Backups().Schedule(ctx)
}

// Run is a job: it makes a backup if one is due, removes those that need not be kept, and records what became of it.
func (s *Schedule) Run(ctx context.Context) (more bool, err error) {
	state, err := s.store.Backups().Schedule(ctx)
	if err != nil {
		return false, err
	}
	now, err := s.store.StoreNow(ctx)
	if err != nil || !state.IsDue(s.settings.Every, now) {
		return false, err
	}
	holder := string(id.New[id.Replica](s.backups.IDs.UUIDv7())) // for this backup alone
	begun, err := s.begin(ctx, holder)
	if err != nil || begun.IsZero() {
		return false, err
	}
	written, failure := s.write(ctx, holder, begun)
	if failure != nil && ctx.Err() != nil {
		return false, s.breakOff(ctx, holder)
	}
	after, err := s.end(ctx, holder, written, failure)
	if failure != nil {
		s.failures.Add(1)
		s.log.Error(ctx, s.saysFailed(after), failure)
	}
	if err != nil || failure != nil {
		return false, err
	}
	return false, s.removeOld(begun)
}

// saysFailed is what is said of a backup that has failed, with the schedule after it.
func (s *Schedule) saysFailed(after backup.Schedule) string {
	if next := after.Next(s.settings.Every); after.Failed && after.Holder == "" {
		return fmt.Sprintf("The scheduled backup failed; the next try is at %s.", instant.Format(next))
	}
	return "The scheduled backup failed." // another server makes it, or the store is away
}

// ending is how long a server that stops may take to note what became of its backup.
const ending = 5 * time.Second

// breakOff gives the schedule back when the server stops.
func (s *Schedule) breakOff(ctx context.Context, holder string) error {
	ctx, cancel := lasting(ctx)
	defer cancel()
	return s.change(ctx, func(_ context.Context, _ store.Tx, now time.Time, state backup.Schedule) (backup.Schedule, error) {
		if state.Holder == holder {
			state = state.BreakOff(now)
		}
		return state, nil
	})
}

// lasting lasts a little longer than a context that has ended.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), ending)
}

// begin takes the schedule, unless another has, and returns the instant of the backup; zero: another has.
func (s *Schedule) begin(ctx context.Context, holder string) (begun time.Time, err error) {
	err = s.change(ctx, func(_ context.Context, _ store.Tx, now time.Time, state backup.Schedule) (backup.Schedule, error) {
		begun = time.Time{}
		if state.IsDue(s.settings.Every, now) {
			begun, state = now, state.Begin(holder, now)
		}
		return state, nil
	})
	return begun, err
}

// change changes the schedule in a unit of work.
func (s *Schedule) change(
	ctx context.Context,
	next func(ctx context.Context, tx store.Tx, now time.Time, state backup.Schedule) (backup.Schedule, error),
) error {
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		state, err := tx.Backups().Lock(ctx)
		if err != nil {
			return err
		}
		now, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		after, err := next(ctx, tx, now, state)
		if err != nil || after == state {
			return err
		}
		return tx.Backups().Save(ctx, after)
	})
}

var errLost = errors.New("another server has taken over the backup, because this one did not answer in time")

// write writes a backup, and holds the schedule meanwhile. It ends when another has taken that.
func (s *Schedule) write(ctx context.Context, holder string, begun time.Time) (backup.Written, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.hold(ctx, cancel, holder)
	}()
	file := s.backups.Archives.Join(s.settings.Folder, backup.Name(begun))
	written, err := s.backups.Write(ctx, itself, inbound.BackupWanted{
		Version: s.settings.Version, File: file, Recipients: s.settings.Recipients,
	})
	if lost := context.Cause(ctx); errors.Is(lost, errLost) {
		err = lost
	}
	cancel(nil)
	<-stopped
	return written, err
}

// hold renews the schedule until ctx ends, or ends it when another has taken that. A store that cannot be reached may be back in time.
func (s *Schedule) hold(ctx context.Context, end context.CancelCauseFunc, holder string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.pace):
		}
		_ = s.change(ctx, func(_ context.Context, _ store.Tx, now time.Time, state backup.Schedule) (backup.Schedule, error) {
			next, holds := state.Renew(holder, now)
			if !holds {
				end(errLost)
			}
			return next, nil
		})
	}
}

// end notes what became of the backup, with its event: of failures in a row the first has one. The schedule changes only if this server
// still holds it, and is returned as it is then. A server that stops has a few seconds for that.
func (s *Schedule) end(
	ctx context.Context, holder string, written backup.Written, failure error,
) (after backup.Schedule, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	err = s.change(ctx, func(ctx context.Context, tx store.Tx, now time.Time, state backup.Schedule) (backup.Schedule, error) {
		isTold := failure != nil && state.Failed && state.Failures > 0
		after = state
		happened := written.Completed()
		if failure != nil {
			happened = backup.Failure(failure.Error())
		}
		if state.Holder == holder {
			if failure != nil {
				after = state.Fail(now)
			} else {
				after = state.Done(written.Size)
			}
		}
		if isTold {
			return after, nil
		}
		return after, tx.Record(ctx, happened.By(itself.Actor))
	})
	if err != nil {
		return backup.Schedule{}, err
	}
	return after, nil
}

// removeOld removes the scheduled backups that need not be kept, after one was verified. It is the newest, so it stays.
func (s *Schedule) removeOld(newest time.Time) error {
	names, err := s.backups.Archives.List(s.settings.Folder)
	if err != nil {
		return err
	}
	var all []time.Time
	for _, name := range names {
		if at, ok := backup.ParseName(name); ok && !at.After(newest) { // what seems to be of the future is left alone
			all = append(all, at)
		}
	}
	var failures []error
	for _, at := range s.settings.Keep.Old(all) {
		failures = append(failures, s.backups.Archives.Remove(s.backups.Archives.Join(s.settings.Folder, backup.Name(at))))
	}
	return errors.Join(failures...)
}
