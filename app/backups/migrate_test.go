package backups_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"holdco/app/backups"
	"holdco/domain/backup"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// released is the schema of the first release.
const released = 36

// upgrading is a program of a newer version on a place.
type upgrading struct {
	backups.Before

	written []backup.Written
	none    int

	mutex   sync.Mutex
	settled []backup.Aftermath
}

// on migrates the store of a place.
func (u *upgrading) on(t *testing.T, p place) ([]outbound.Migration, error) {
	t.Helper()
	migrator, on, done := p.migrator(t)
	defer done()
	return backups.NewMigrator(migrator, p.Service, on, u.Before, backups.Report{
		Written: func(_ context.Context, written backup.Written) { u.written = append(u.written, written) },
		None:    func(context.Context) { u.none++ },
		Settled: func(_ context.Context, after backup.Aftermath) {
			u.mutex.Lock()
			defer u.mutex.Unlock()
			u.settled = append(u.settled, after)
		},
	}).Up(t.Context())
}

func TestAStoreIsBackedUpBeforeItIsMigrated(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(false)
		newest := p.parts.Target.Schema()
		folder := t.TempDir()
		u := &upgrading{Before: backups.Before{Folder: folder, Version: "v1.2.0"}}

		// A new store holds nothing, and one that is not behind stays as it is.
		if applied, err := u.on(t, p); err != nil || len(applied) == 0 {
			t.Errorf("a new store: %d, %v", len(applied), err)
		}
		if applied, err := u.on(t, p); err != nil || len(applied) > 0 {
			t.Errorf("one that is up to date: %d, %v", len(applied), err)
		}
		if left := names(t, folder); len(left) > 0 {
			t.Errorf("backups of nothing: %v", left)
		}

		behind := another(false)
		behind.migrate(t, released)
		for _, one := range []struct {
			first  backup.BeforeMigration
			folder string
		}{{backup.Required, ""}, {backup.Required, filepath.Join(folder, "missing")}, {0, filepath.Join(folder, "missing")}} {
			refused := &upgrading{Before: backups.Before{Whether: one.first, Folder: one.folder, Version: "v1.2.0"}}
			if _, err := refused.on(t, behind); err == nil || len(refused.written)+refused.none > 0 {
				t.Errorf("%+v: %v, %+v", one, err, refused)
			}
			if got := behind.schema(t); got != released {
				t.Fatalf("%+v: it was migrated to %d", one, got)
			}
		}
		applied, err := u.on(t, behind)
		if err != nil || len(applied) == 0 || applied[len(applied)-1].Version != newest || len(u.written) != 1 || u.none > 0 {
			t.Fatalf("%v, %+v, %+v", err, applied, u)
		}
		made := u.written[0]
		if !made.Verified || made.Schema != released || made.Version != "v1.2.0" {
			t.Errorf("%+v", made)
		}
		if all := names(t, folder); len(all) != 1 || filepath.Join(folder, all[0]) != made.File ||
			!regexp.MustCompile(`^pre-v1\.2\.0-\d{8}T\d{6}\.\d{3}Z\.tar\.zst$`).MatchString(all[0]) {
			t.Errorf("%v, said %s", all, made.File)
		}

		// It brings back what there was.
		back := another(false)
		restored := must[backup.Restored](t)(back.Restore(t.Context(), caller, inbound.RestoreWanted{File: made.File}))
		if restored.Schema != released || restored.MadeOf != newest {
			t.Errorf("%+v", restored)
		}
	})
}

// The first start of a program may be cut short between any two migrations.
func TestAStoreWhoseFirstMigrationsWereCutShortGoesOn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		for _, version := range []int64{1, 2} {
			p := another(false)
			p.migrate(t, version)
			u := &upgrading{Before: backups.Before{Folder: t.TempDir(), Version: "v1.2.0"}}
			if _, err := u.on(t, p); err != nil || len(u.written) != 1 || u.written[0].Schema != version {
				t.Fatalf("from %d: %v, %+v", version, err, u)
			}
			wanted := inbound.RestoreWanted{File: u.written[0].File, TriesOnly: true, Timeout: time.Minute}
			if tried := must[backup.Restored](t)(p.Restore(t.Context(), caller, wanted)); len(tried.Problems) > 0 {
				t.Errorf("from %d: %v", version, tried.Problems)
			}
		}
	})
}

func TestAStoreIsMigratedWithoutABackupOnlyIfThatIsWanted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		for _, one := range []struct {
			before backups.Before
			none   int
		}{{backups.Before{Whether: backup.Never, Folder: "/missing"}, 0}, {backups.Before{}, 1}} {
			p := another(false)
			p.migrate(t, released)
			u := &upgrading{Before: one.before}
			if applied, err := u.on(t, p); err != nil || len(applied) == 0 || len(u.written) > 0 || u.none != one.none {
				t.Errorf("%+v: %v, %+v, %+v", one, err, applied, u)
			}
		}
	})
}

func TestAMigrationThatCouldNotBeginAfterItsBackupIsTriedAgainWithAnother(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(false)
		p.migrate(t, released)
		folder := t.TempDir()
		u := &upgrading{Before: backups.Before{Folder: folder, Version: "feature/x y"}}
		ctx, cancel := context.WithCancel(t.Context())
		migrator, on, done := p.migrator(t)
		_, err := backups.NewMigrator(migrator, p.Service, on, u.Before, backups.Report{
			Written: func(context.Context, backup.Written) { cancel() },
		}).Up(ctx)
		done()
		if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "interrupt")) {
			t.Fatal(err)
		}
		if applied, err := u.on(t, p); err != nil || len(applied) == 0 {
			t.Fatalf("%+v, %v", applied, err)
		}
		all := names(t, folder)
		if len(all) != 2 || !strings.HasPrefix(all[0], "pre-feature-x-y-") {
			t.Errorf("%v", all)
		}
		for _, name := range all {
			must[os.FileInfo](t)(os.Stat(filepath.Join(folder, name)))
		}
	})
}

// overtaken is a store that another process migrates when its backup begins.
type overtaken struct {
	store.Source
	meanwhile func()
	fails     error
}

func (o overtaken) Copy(ctx context.Context, folder string) (store.Copy, error) {
	o.meanwhile()
	if o.fails != nil {
		return nil, o.fails
	}
	return o.Source.Copy(ctx, folder)
}

func TestABackupOfAStoreThatAnotherProcessMigratesMeanwhileIsDropped(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		for _, fails := range []error{nil, errors.New("a table has other rows than were counted")} {
			p := another(false)
			p.migrate(t, released)
			parts := p.parts
			parts.Source = overtaken{parts.Source, func() { p.migrate(t, parts.Target.Schema()) }, fails}
			p.Service = backups.New(parts)
			u := &upgrading{Before: backups.Before{Folder: t.TempDir(), Version: "v1.2.0"}}
			if applied, err := u.on(t, p); err != nil || len(applied) > 0 || len(u.written) > 0 {
				t.Errorf("%v: %v, %+v, %+v", fails, err, applied, u)
			}
			if left := names(t, u.Folder); len(left) > 0 {
				t.Errorf("%v: left is %v", fails, left)
			}
		}
	})
}

// What an older state needs before anything works on it waits for the migration, and is done then, also if that was cut short.
func TestAStoreThatIsRestoredAsItIsWaitsForItsMigration(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p, migrated := another(true), another(false)
		file, newest := releasedStores(t, p.parts.Engine)[0], p.parts.Target.Schema()
		wanted := inbound.RestoreWanted{File: file, AsItIs: true}
		restored := must[backup.Restored](t)(p.Restore(t.Context(), caller, wanted))
		if restored.Settled || restored.MadeOf != released || restored.Aftermath != (backup.Aftermath{}) || p.schema(t) != released {
			t.Fatalf("%+v", restored)
		}
		const open, told = "runs WHERE ended_at IS NULL", "activity WHERE type = 'store.restored'"
		refuses := func(why string) {
			t.Helper()
			opened, done := p.open(t)
			defer done()
			if err := opened.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), why+`; run "holdco migrate up"`) {
				t.Errorf("it can be used: %v", err)
			}
			if p.count(t, open) == 0 || p.count(t, told) > 0 {
				t.Error("it was settled")
			}
		}
		refuses("the schema of the store is older than this program needs")

		// A backup of it is one of any store that is older: it takes no mark with it.
		again := p.path("again.tar.zst")
		p.write(t, inbound.BackupWanted{File: again})
		for _, left := range []bool{true, false} {
			other := another(false)
			got := must[backup.Restored](t)(other.Restore(t.Context(), caller, inbound.RestoreWanted{File: again, AsItIs: left}))
			if marks := other.count(t, "restorations"); got.Settled == left || (marks == 1) != left {
				t.Errorf("%+v, %d marks", got, marks)
			}
		}

		p.migrate(t, newest) // and was killed
		refuses("the store was restored, and is not ready for work yet")
		migrator, _, done := p.migrator(t)
		if schema := must[outbound.Schema](t)(migrator.Status(t.Context())); !schema.Unsettled || len(schema.Pending()) > 0 {
			t.Errorf("%+v", schema)
		}
		done()

		u := &upgrading{Before: backups.Before{Whether: backup.Never}}
		for range 2 {
			must[[]outbound.Migration](t)(u.on(t, p))
		}
		want := must[backup.Restored](t)(migrated.Restore(t.Context(), caller, inbound.RestoreWanted{File: file}))
		if len(u.settled) != 1 || u.settled[0] != want.Aftermath || want.Leases == 0 || !want.Settled {
			t.Errorf("%+v, and with a migration at once %+v", u.settled, want)
		}
		if p.count(t, open) > 0 || p.count(t, told+" AND actor = '"+string(caller.Actor)+"'") != 1 || p.count(t, "restorations") > 0 {
			t.Error("it was not settled")
		}
		opened, done := p.open(t)
		defer done()
		check(t, opened.Ready(t.Context()))
	})
}

// Several servers may start on such a store at once, and the first that is ready begins to work.
func TestAStoreThatWasRestoredIsSettledOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		wanted := inbound.RestoreWanted{File: releasedStores(t, p.parts.Engine)[0], AsItIs: true}
		must[backup.Restored](t)(p.Restore(t.Context(), caller, wanted))
		p.migrate(t, p.parts.Target.Schema())
		u := &upgrading{Before: backups.Before{Whether: backup.Never}}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := u.on(t, p); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		told, left := p.count(t, "activity WHERE type = 'store.restored'"), p.count(t, "runs WHERE ended_at IS NULL")
		if len(u.settled) != 1 || told != 1 || left > 0 || p.count(t, "restorations") > 0 {
			t.Errorf("settled %d times, told %d times, %d leases are left", len(u.settled), told, left)
		}
	})
}

func TestAStoreOfTheNewestSchemaIsRestoredAsItIs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		from, to := another(true), another(false)
		file := from.saved(t)
		restored := must[backup.Restored](t)(to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, AsItIs: true}))
		if !restored.Settled || to.count(t, "activity WHERE type = 'store.restored'") != 1 || to.count(t, "restorations") > 0 {
			t.Errorf("%+v", restored)
		}
	})
}
