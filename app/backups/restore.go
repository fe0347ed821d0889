package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/doctor"
	"holdco/domain/event"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Restore puts a backup in the place of the store.
func (s *Service) Restore(ctx context.Context, caller access.Caller, wanted inbound.RestoreWanted) (restored backup.Restored, err error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return restored, err
	}
	began := s.Clock.Now()
	from := wanted.From
	if wanted.File != "" {
		file, err := s.Archives.Open(wanted.File)
		if err != nil {
			return restored, err
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	archive, err := s.Archives.Read(from, wanted.Identities)
	if err != nil {
		return restored, err
	}
	defer archive.Close()
	r := &restoring{Service: s, ctx: ctx, wanted: wanted, actor: caller.Actor}
	defer func() {
		closing := r.close()
		if err != nil && ctx.Err() != nil && !r.isSwitched { // what else went wrong followed from that
			err = interrupted{"the restoration was interrupted: the store is as it was; run it again", ctx.Err()}
			return
		}
		err = errors.Join(err, closing)
	}()
	manifest, err := read(ctx, archive, r.begin, r.take, r.end)
	if err != nil {
		return restored, err
	}
	restored = backup.Restored{Manifest: manifest, File: wanted.File, Rows: r.rows, MadeOf: s.Target.Schema(), Settled: true}
	if r.isLeft {
		restored.MadeOf, restored.Settled = manifest.Schema, false
	} else {
		restored.Aftermath, err = settling{Service: s, on: r.on, of: backup.Unsettled{Of: manifest, Actor: caller.Actor}}.run(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return restored, ctx.Err()
	case wanted.TriesOnly:
		restored.Problems, err = s.examine(ctx, caller, r.on, wanted, err)
	case err == nil:
		err = r.switchOver(ctx, &restored)
	}
	restored.Lacks = s.lacks(manifest)
	restored.Took = s.Clock.Now().Sub(began)
	return restored, err
}

// restoring is a backup that is being restored.
type restoring struct {
	*Service
	ctx    context.Context
	wanted inbound.RestoreWanted
	actor  event.Actor
	of     backup.Manifest
	isLeft bool                          // its schema is older than that of this program, and stays so
	store  store.Restoration             // nil: not begun
	spaces outbound.WorkspaceRestoration // nil: there are none
	rows   map[string]int64
	on     store.Restored

	isSwitched bool // the backup may be in the place of the store
}

// interrupted is what is said of what ended with its context.
type interrupted struct {
	says string
	error
}

func (i interrupted) Error() string { return i.says }
func (i interrupted) Unwrap() error { return i.error }

func (r *restoring) begin(m backup.Manifest) (err error) {
	if err := m.Check(r.Engine, r.Target.Schema()); err != nil {
		return err
	}
	r.of, r.isLeft = m, r.wanted.AsItIs && m.Schema < r.Target.Schema()
	if r.wanted.TriesOnly {
		r.store, err = r.Target.Try(r.ctx, m)
	} else {
		r.store, err = r.Target.Begin(r.ctx, m, r.wanted.Replaces)
	}
	if err != nil {
		return err
	}
	free, isKnown, err := r.store.Free()
	if err != nil {
		return err
	}
	if err := enough(backup.Room(m.Bytes), free, isKnown); err != nil {
		return err
	}
	if m.HasSpaces && !r.wanted.TriesOnly {
		r.spaces, err = r.Spaces.Restore(r.wanted.Replaces)
	}
	return err
}

func (r *restoring) take(entry backup.Entry, content io.Reader) error {
	name, isSpace := strings.CutPrefix(entry.Name, backup.Workspaces)
	switch {
	case !isSpace:
		return r.store.Take(r.ctx, entry.Name, content)
	case r.spaces == nil: // a trial
		return skip(r.ctx)(entry, content)
	}
	free, isKnown, err := r.spaces.Free()
	if err == nil {
		err = enough(entry.Bytes, free, isKnown)
	}
	if err != nil {
		return err
	}
	entry.Name = name
	return r.spaces.Take(entry, content)
}

func (r *restoring) end(sums backup.Sums) (err error) {
	r.rows = sums.Rows
	if r.isLeft {
		return r.store.Leave(r.ctx, sums.Rows, backup.Unsettled{Of: r.of, Actor: r.actor})
	}
	r.on, err = r.store.Open(r.ctx, sums.Rows)
	return err
}

// switchOver puts the store in its place, and then the workspaces: an instance can run without these, whose directories are made anew.
func (r *restoring) switchOver(ctx context.Context, restored *backup.Restored) error {
	former, err := r.store.Switch(ctx)
	r.isSwitched = err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err())
	restored.Kept, restored.Newer = former.Kept, former.Newer
	if err != nil || r.spaces == nil {
		return err
	}
	if restored.Spaces, err = r.spaces.Switch(backup.Aside(r.Clock.Now())); err != nil {
		return fmt.Errorf("the store is restored, but the workspaces are not: %w", err)
	}
	return nil
}

func (r *restoring) close() error {
	var failures []error
	if r.spaces != nil {
		failures = append(failures, r.spaces.Close())
	}
	if r.store != nil {
		failures = append(failures, r.store.Close())
	}
	return errors.Join(failures...)
}

// lacks says which of the keys that a backup needs is missing; empty: none.
func (s *Service) lacks(m backup.Manifest) string {
	if m.Key == "" {
		return ""
	}
	if _, err := s.Vault.Unlock(m.Key, m.FormerKey); err != nil {
		return err.Error()
	}
	return ""
}

// examine runs the checks of the store, and returns what is wrong: that it could not be settled, too.
func (s *Service) examine(
	ctx context.Context, caller access.Caller, on store.Restored, wanted inbound.RestoreWanted, unsettled error,
) (problems []string, err error) {
	if unsettled != nil {
		problems = append(problems, fmt.Sprintf("it cannot be made ready for work: %v", unsettled))
	}
	report, err := s.Doctor(on).Examine(ctx, caller, inbound.Examination{Only: s.Checks, Timeout: wanted.Timeout})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	for _, one := range report.Checks {
		if severity := one.Severity(); severity == doctor.Error || severity == doctor.Skipped {
			problems = append(problems, one.Name+": "+one.Message())
		}
	}
	return problems, nil
}
