package backups_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/system/vault"
	"holdco/app/backups"
	"holdco/domain/backup"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// release is set when a release is made: later programs are tested with its stores.
var release = flag.String("release", "", "the folder of testdata/released in which stores are kept")

func TestAFullStoreIsKeptForARelease(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		folder := *release
		if folder == "" {
			folder = t.TempDir()
		}
		p := another(true)
		p.fill(t)
		p.write(t, inbound.BackupWanted{File: filepath.Join(folder, "full-"+p.parts.Engine+".tar.zst"), Version: filepath.Base(folder)})
	})
}

func TestEveryRowOfReleasesIsThereAfterMigrations(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		for _, file := range releasedStores(t, "full-"+another(false).parts.Engine) {
			p := another(false)
			restored := restoreExactly(t, p, file)
			for table, rows := range restored.Rows {
				if rows == 0 && table != "goose_db_version" {
					t.Errorf("%s: no row of %s", file, table)
				}
				if got := p.count(t, table); int64(got) < rows {
					t.Errorf("%s: %d rows of %s, and there were %d", file, got, table, rows)
				}
			}
		}
	})
}

// A run whose issue is not there keeps no store from being used.
func TestALeaseWithoutItsIssueIsEndedByARestoration(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		file := releasedStores(t, "full-"+another(false).parts.Engine)[0]
		for _, isLeft := range []bool{false, true} {
			p := another(false)
			must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, AsItIs: isLeft}))
			const open = "runs WHERE ended_at IS NULL"
			if isLeft {
				if p.count(t, open+" AND issue_id NOT IN (SELECT id FROM issues)") == 0 {
					t.Fatal("each lease has its issue")
				}
				must[[]outbound.Migration](t)((&upgrading{Before: backups.Before{Whether: backup.Never}}).on(t, p))
			}
			if got := p.count(t, open); got != 0 {
				t.Errorf("leases are open: %d", got)
			}
		}
	})
}

func releasedStores(t *testing.T, name string) []string {
	t.Helper()
	found := must[[]string](t)(filepath.Glob("../../testdata/released/*/" + name + ".tar.zst"))
	if len(found) == 0 {
		t.Fatalf("no release has %s", name)
	}
	return found
}

// Each release keeps a store of each engine, with rows of a company at work: see CONTRIBUTING.
func TestStoresOfReleasesAreMigratedAndAllIsWellInThem(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		for _, file := range releasedStores(t, another(false).parts.Engine) {
			p := another(false)
			key := must[[]byte](t)(os.ReadFile(file[:len(file)-len(".tar.zst")] + ".key"))
			check(t, os.WriteFile(p.path("key"), key, 0o600))
			p.Vault = vault.New(p.path("key"))
			tried := must[backup.Restored](t)(p.Restore(t.Context(), caller,
				inbound.RestoreWanted{File: file, TriesOnly: true, Timeout: time.Minute}))
			if len(tried.Problems) > 0 || tried.Lacks != "" || tried.MadeOf != p.parts.Target.Schema() || tried.Rows["issues"] == 0 {
				t.Errorf("%s: %+v", file, tried)
			}

			// So it is where the program is exchanged, without a restoration.
			restoreExactly(t, p, file)
			before := p.count(t, "activity")
			u := &upgrading{Before: backups.Before{Folder: t.TempDir()}}
			if _, err := u.on(t, p); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			migrator, _, done := p.migrator(t)
			schema := must[outbound.Schema](t)(migrator.Status(t.Context()))
			done()
			if schema.Version != p.parts.Target.Schema() || len(schema.Pending()) > 0 || p.count(t, "activity") != before {
				t.Errorf("%s: %+v", file, schema)
			}
		}
	})
}

// A trial does all that a restoration does, so what would stop that is a problem of the backup.
func TestATrialFindsWhatWouldStopARestoration(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(false)
		file := releasedStores(t, p.parts.Engine)[0]
		restoreExactly(t, p, file)
		if got := p.count(t, "runs WHERE ended_at IS NULL"); got == 0 {
			t.Fatal("nothing is worked on")
		}
		p.execute(t, "UPDATE issues SET status = 'completed' WHERE id IN (SELECT issue_id FROM runs WHERE ended_at IS NULL)")
		broken := p.path("broken.tar.zst")
		p.write(t, inbound.BackupWanted{File: broken})
		tried := must[backup.Restored](t)(another(false).Restore(t.Context(), caller,
			inbound.RestoreWanted{File: broken, TriesOnly: true, Timeout: time.Minute}))
		isThere := func(problem string) bool { return strings.HasPrefix(problem, "it cannot be made ready for work: ") }
		if !slices.ContainsFunc(tried.Problems, isThere) {
			t.Errorf("%q", tried.Problems)
		}
		if _, err := another(false).Restore(t.Context(), caller, inbound.RestoreWanted{File: broken}); err == nil {
			t.Error("it was restored")
		}
	})
}
