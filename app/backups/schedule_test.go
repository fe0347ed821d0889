package backups_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdco/app/backups"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/domain/instant"
	"holdco/ports/store"
)

// logged is a log of what was said.
type logged struct{ messages []string }

func (l *logged) Error(_ context.Context, message string, _ error) {
	l.messages = append(l.messages, message)
}

// scheduled are servers on a place, with a folder of backups each.
func scheduled(t *testing.T, p place, count int) (on store.Store, folder string, all []*backups.Schedule) {
	t.Helper()
	opened, done := p.open(t)
	t.Cleanup(done)
	folder = t.TempDir()
	settings := backups.Settings{Folder: folder, Every: 24 * time.Hour, Keep: backup.Selection{Days: 2}, Version: "v1"}
	for range count {
		all = append(all, backups.NewSchedule(p.Service, opened.Store, settings, &logged{}))
	}
	return opened.Store, folder, all
}

func names(t *testing.T, folder string) (found []string) {
	t.Helper()
	for _, entry := range must[[]os.DirEntry](t)(os.ReadDir(folder)) {
		found = append(found, entry.Name())
	}
	return found
}

func TestOfSeveralServersOneMakesABackup(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		on, folder, all := scheduled(t, p, 4)
		run := func() {
			t.Helper()
			failures := make(chan error, len(all))
			for _, one := range all {
				go func() {
					_, err := one.Run(t.Context())
					failures <- err
				}()
			}
			for range all {
				if err := <-failures; err != nil {
					t.Error(err)
				}
			}
		}
		run()
		run()
		if got := names(t, folder); len(got) != 1 {
			t.Error(got)
		}
		p.clock.Advance(24*time.Hour - time.Millisecond)
		run()
		for days := range 4 { // however many were missed
			p.clock.Advance(time.Duration(days+1) * 24 * time.Hour)
			run()
		}
		check(t, os.WriteFile(filepath.Join(folder, "holdco-mine.tar.zst"), nil, 0o600))
		run()
		got := names(t, folder)
		if len(got) != 3 { // two days, and what is no backup of ours
			t.Error(got)
		}
		state := must[backup.Schedule](t)(on.Backups().Schedule(t.Context()))
		if state.Holder != "" || state.Failed || state.Bytes == 0 || state.DoneAt.IsZero() || !state.DoneAt.Equal(state.BegunAt) {
			t.Errorf("%+v", state)
		}
		if completed := p.count(t, "activity WHERE type = 'backup.completed'"); completed != 5 {
			t.Errorf("%d events", completed)
		}
	})
}

func TestABackupThatFailsIsTriedAgainSoonAndThenLessOften(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		on, folder, _ := scheduled(t, p, 0)
		said := &logged{}
		settings := backups.Settings{Folder: folder, Every: 24 * time.Hour, Keep: backup.Selection{Days: 2}, Version: "v1"}
		one := backups.NewSchedule(p.Service, on, settings, said)
		run := func() {
			t.Helper()
			if _, err := one.Run(t.Context()); err != nil {
				t.Error(err)
			}
		}
		check(t, os.RemoveAll(folder))
		for n, pause := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
			run()
			want := "The scheduled backup failed; the next try is at " + instant.Format(p.clock.Now().Add(pause)) + "."
			if one.Failures() != int64(n+1) || len(said.messages) != n+1 || said.messages[n] != want {
				t.Errorf("%d failures, %q; want %q", one.Failures(), said.messages, want)
			}
			p.clock.Advance(pause - time.Millisecond)
			run()
			if one.Failures() != int64(n+1) {
				t.Errorf("it was tried again before %s", pause)
			}
			p.clock.Advance(time.Millisecond)
		}
		if got := p.count(t, "activity WHERE type = 'backup.failed' AND data LIKE '%no folder%'"); got != 1 {
			t.Errorf("%d events of failures in a row", got)
		}
		state := must[backup.Schedule](t)(on.Backups().Schedule(t.Context()))
		if !state.Failed || state.Holder != "" || !state.DoneAt.IsZero() {
			t.Errorf("%+v", state)
		}
		check(t, os.Mkdir(folder, 0o700))
		run()
		if got := names(t, folder); len(got) != 1 || !strings.HasPrefix(got[0], "holdco-") {
			t.Error(got)
		}
		state = must[backup.Schedule](t)(on.Backups().Schedule(t.Context()))
		if state.Failed || state.Holder != "" || !state.DoneAt.Equal(p.clock.Now()) || one.Failures() != 5 || len(said.messages) != 5 {
			t.Errorf("%+v, %d failures, %q", state, one.Failures(), said.messages)
		}
	})
}

// A server that another has taken over from ends its backup, notes a failure, and leaves the schedule to the other.
func TestABackupThatIsTakenOverEnds(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	on, folder, _ := scheduled(t, p, 0)
	taken := func(ctx context.Context) error {
		return on.Update(ctx, func(ctx context.Context, tx store.Tx) error {
			state, err := tx.Backups().Lock(ctx)
			if err != nil {
				return err
			}
			return tx.Backups().Save(ctx, state.Begin("another", p.clock.Now()))
		})
	}
	parts := p.parts
	parts.Source = source{Source: parts.Source, before: func(ctx context.Context) error {
		if err := taken(ctx); err != nil {
			return err
		}
		<-ctx.Done() // the first look at the schedule ends it
		return ctx.Err()
	}}
	settings := backups.Settings{Folder: folder, Every: 24 * time.Hour, Keep: backup.Selection{Days: 2}}
	one := backups.NewSchedule(backups.New(parts), on, settings, &logged{}).AtPace(time.Millisecond)
	if _, err := one.Run(t.Context()); err != nil {
		t.Error(err)
	}
	state := must[backup.Schedule](t)(on.Backups().Schedule(t.Context()))
	if state.Holder != "another" || state.Failed || one.Failures() != 1 || names(t, folder) != nil {
		t.Errorf("%+v, %d failures, %v", state, one.Failures(), names(t, folder))
	}
	if got := p.count(t, "activity WHERE type = 'backup.failed' AND data LIKE '%another server has taken over%'"); got != 1 {
		t.Errorf("%d events", got)
	}
}

// A server that stops breaks its backup off, which is no failure, and the next one makes it soon.
func TestABackupWhoseServerStopsIsMadeByTheNext(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	on, folder, _ := scheduled(t, p, 0)
	said := &logged{}
	settings := backups.Settings{Folder: folder, Every: 24 * time.Hour, Keep: backup.Selection{Days: 2}, Version: "v1"}
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		parts := p.parts
		parts.Source = source{Source: parts.Source, before: func(ctx context.Context) error {
			stop()
			return ctx.Err()
		}}
		one := backups.NewSchedule(backups.New(parts), on, settings, said)
		if _, err := one.Run(ctx); err != nil || one.Failures() != 0 {
			t.Errorf("%d failures, %v", one.Failures(), err)
		}
		p.clock.Advance(time.Minute)
	}
	if got := p.count(t, "activity WHERE type = 'backup.failed'"); got != 0 || len(said.messages) != 0 {
		t.Errorf("%d events, %q", got, said.messages)
	}
	if _, err := backups.NewSchedule(p.Service, on, settings, said).Run(t.Context()); err != nil || len(names(t, folder)) != 1 {
		t.Errorf("%v, %v", names(t, folder), err)
	}
}

func TestAScheduledBackupIsChecked(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	on, folder, all := scheduled(t, p, 1)
	must[bool](t)(all[0].Run(t.Context()))
	begun := must[backup.Schedule](t)(on.Backups().Schedule(t.Context())).DoneAt
	file := filepath.Join(folder, backup.Name(begun))
	text := must[[]byte](t)(os.ReadFile(file))
	is := func(name string, begun time.Time, isFull bool, want fault.Code) {
		t.Helper()
		if err := p.Check(t.Context(), folder, begun, isFull); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	writes := func(text []byte) {
		t.Helper()
		check(t, os.WriteFile(file, text, 0o600))
	}
	is("its manifest", begun, false, "")
	is("all of it", begun, true, "")
	is("another", begun.Add(time.Second), false, fault.NotFound)
	writes(text[:len(text)-1])
	is("all of one that is cut off", begun, true, fault.InvalidFile)
	writes([]byte("a text"))
	is("what is no backup", begun, false, fault.InvalidFile)
	writes(nil)
	is("an empty file", begun, false, fault.InvalidFile)
}
