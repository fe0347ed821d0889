package backups_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlite"
	"holdco/app/backups"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// source is a store.Source before whose copies something happens.
type source struct {
	store.Source
	before func(ctx context.Context) error
	free   int64 // beside the store; 0: unknown
}

func (s source) Copy(ctx context.Context, folder string) (store.Copy, error) {
	if err := s.before(ctx); err != nil {
		return nil, err
	}
	return s.Source.Copy(ctx, folder)
}

func (s source) Free() (bytes int64, isKnown bool, err error) { return s.free, s.free > 0, nil }

// vanishing removes a folder when workspaces are copied.
type vanishing struct {
	outbound.WorkspaceCopies
	folder string
}

func (v vanishing) Copy(func(entry backup.Entry, content func(to io.Writer) error) error) error {
	return os.RemoveAll(v.folder)
}

// former is the version of the schema from which a store is restored. Later ones have more columns in tables that are copied.
const former = 21

// A store is backed up before its schema is migrated, so that is what is restored after a migration that went wrong.
func TestABackupOfAnOlderSchemaIsMigrated(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		from, to := another(false), another(true) // an empty store of the newest schema
		from.migrate(t, former)
		const company = `INSERT INTO companies (id, slug, name, description, default_adapter, fiscal_period, budget_usd, budget_period,
			reserve_percent, team_count, agent_count, status, created_at, updated_at, deleted_by, version)
			VALUES ('cmp_1', 'acme', 'Acme', 'it''s "Ä"', '', 'month', 5, 'month', 0, 0, 0, 'active', 1775904137000, 1775904137000, '', 3)`
		from.execute(t, company, "INSERT INTO instance_key (single, fingerprint) VALUES (1, '0123456789abcdef')")
		file := from.path("b.tar.zst")
		written := from.write(t, inbound.BackupWanted{File: file})
		if written.Schema != former || written.Key != "0123456789abcdef" || written.FormerKey != "" || written.Rows["companies"] != 1 {
			t.Errorf("%+v", written)
		}
		restored := must[backup.Restored](t)(to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file}))
		if newest := to.parts.Target.Schema(); restored.Schema != former || restored.MadeOf != newest || newest <= former {
			t.Errorf("%+v", restored)
		}
		const kept = "companies WHERE id = 'cmp_1' AND description = 'it''s \"Ä\"' AND budget_usd = 5 AND version = 3 AND lease_epoch = 1"
		if to.count(t, kept) != 1 || to.count(t, "backup_schedule") != 1 || to.count(t, "activity WHERE type = 'store.restored'") != 1 {
			t.Error("the rows are not as they were, or not migrated")
		}
		to.record(t)
	})
}

// What partners hold of leads from after the backup must not go on as if nothing had happened.
func TestARestorationIsAChangeOfLeads(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	state := func() (found lead.State) {
		opened, done := p.open(t)
		defer done()
		return must[lead.State](t)(opened.Leads().State(t.Context()))
	}
	change := func() {
		opened, done := p.open(t)
		defer done()
		check(t, opened.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			_, err := tx.Leads().Advance(ctx)
			return err
		}))
	}
	change()
	before, file := state(), p.path("b.tar.zst")
	p.write(t, inbound.BackupWanted{File: file})
	p.clock.Advance(time.Minute)
	change()
	lost := state()
	must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
	after := state()
	if after.Revision != before.Revision+1 || !after.ChangedAt.After(lost.ChangedAt) || !after.HasLost(lost.ChangedAt) ||
		after.HasLost(before.ChangedAt) {
		t.Errorf("%+v after %+v and %+v", after, before, lost)
	}
}

func TestABackupWhoseFolderGoesLeavesNothing(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	p.record(t)
	folder := p.path("folder")
	parts := p.parts
	parts.Source = source{Source: parts.Source, before: func(context.Context) error { return os.RemoveAll(folder) }}
	late := parts
	late.Source = source{Source: p.parts.Source, before: func(context.Context) error { return nil }}
	late.Spaces = vanishing{late.Spaces, folder} // the copy is there by then
	for _, one := range []backups.Parts{parts, late} {
		check(t, os.Mkdir(folder, 0o700))
		_, err := backups.New(one).Write(t.Context(), caller, inbound.BackupWanted{File: filepath.Join(folder, "b"), Workspaces: true})
		if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "the folder of the backup went away ") ||
			!strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is there again: %v", err)
		}
	}
	if left := leftovers(t, p.dir); left != nil {
		t.Error(left)
	}
}

func TestTwoBackupsAtOnceIntoOneFolder(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	p.record(t)
	check(t, os.Symlink(p.path("holdco.db"), p.path("link")))
	for _, replaces := range []bool{false, true} {
		_, err := p.Write(t.Context(), caller, inbound.BackupWanted{File: p.path("link"), Replaces: replaces})
		if err == nil || !strings.Contains(err.Error(), "is no file") {
			t.Errorf("a link was replaced: %v", err)
		}
	}
	for _, c := range []struct {
		files    [2]string
		replaces bool
		failures int
	}{{[2]string{"a", "b"}, false, 0}, {[2]string{"c", "c"}, false, 1}, {[2]string{"c", "c"}, true, 0}} {
		// Each begins when the other has begun: both have looked whether there is such a file.
		begun := make(chan struct{}, 2)
		failures := make(chan error, 2)
		for _, file := range c.files {
			parts := p.parts
			parts.Source = source{Source: parts.Source, before: func(context.Context) error {
				begun <- struct{}{}
				for len(begun) < 2 {
					time.Sleep(time.Millisecond)
				}
				return nil
			}}
			go func() {
				_, err := backups.New(parts).Write(t.Context(), caller, inbound.BackupWanted{File: p.path(file), Replaces: c.replaces})
				failures <- err
			}()
		}
		failed := 0
		for range 2 {
			if err := <-failures; err != nil {
				failed++
				if !strings.Contains(err.Error(), "is there already") {
					t.Error(err)
				}
			}
		}
		if failed != c.failures {
			t.Errorf("%v: %d failures", c.files, failed)
		}
		for _, file := range c.files {
			must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: p.path(file), TriesOnly: true}))
		}
	}
	if left := leftovers(t, p.dir); left != nil {
		t.Error(left)
	}
}

// What can be known before the first byte is: after it, who asked gets half a backup.
func TestAStreamFailsBeforeItsFirstByte(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	p.record(t)
	var to bytes.Buffer
	full := p.parts
	full.Source = source{Source: full.Source, before: func(context.Context) error { return nil }, free: 1}
	inMemory := p.parts
	inMemory.Source = sqlite.NewSource(sqlite.Memory)
	for want, parts := range map[string]backups.Parts{"there is too little room": full, "The store is in memory": inMemory} {
		_, err := backups.New(parts).Stream(t.Context(), caller, &to, inbound.BackupWanted{})
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) || to.Len() > 0 {
			t.Errorf("%v after %d bytes", err, to.Len())
		}
	}
}

// A restoration that is killed after it kept the store, and before it put another in its place, leaves a second name of it.
func TestWhatAKilledRestorationLeavesIsNoFormerStore(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	file := p.saved(t)
	name := func(second int) string {
		return p.path("holdco.db") + "." + backup.Aside(time.Date(2026, 4, 11, 10, 42, second, 0, time.UTC))
	}
	check(t, os.Link(p.path("holdco.db"), name(1)))
	check(t, os.WriteFile(name(2), []byte("a former one"), 0o600))
	check(t, os.Symlink(p.path("holdco.db"), p.path("holdco.db.mine")))
	restored := must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
	left := must[[]string](t)(filepath.Glob(p.path("holdco.db.*")))
	left = slices.DeleteFunc(left, func(name string) bool {
		return slices.Contains([]string{".lock", ".migrating", ".next", ".writing"}, filepath.Ext(name))
	})
	if want := []string{name(2), restored.Kept, p.path("holdco.db.mine")}; !slices.Equal(left, want) {
		t.Errorf("%v, want %v", left, want)
	}
}

// A file of SQLite has nothing that would run when it is used.
func TestAStoreWithATriggerIsNoBackup(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"trigger": "CREATE TRIGGER x AFTER INSERT ON activity BEGIN DELETE FROM tokens; END",
		"view":    "CREATE VIEW x AS SELECT 1",
		"virtual": "CREATE VIRTUAL TABLE x USING fts5(y)",
	} {
		from, to := onSQLite(t, true), onSQLite(t, false)
		from.execute(t, statement)
		file := from.path("b.tar.zst")
		from.write(t, inbound.BackupWanted{File: file})
		_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file})
		if fault.CodeOf(err) != fault.InvalidFile || !strings.Contains(err.Error(), `has "x"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSumsAreThereOnceAndLast(t *testing.T) {
	t.Parallel()
	from, to := onSQLite(t, true), onSQLite(t, false)
	file := from.saved(t)
	heads, contents := map[string]*tar.Header{}, map[string][]byte{}
	rewritten(t, file, func(head *tar.Header, content []byte) []byte {
		heads[head.Name], contents[head.Name] = head, content
		return content
	})
	swapped := func() []byte {
		var sums backup.Sums
		check(t, json.Unmarshal(contents[backup.SumsName], &sums))
		slices.Reverse(sums.Entries)
		return must[[]byte](t)(json.Marshal(sums))
	}()
	const m, s, z = backup.ManifestName, backup.StoreName, backup.SumsName
	for want, names := range map[string][]string{
		"after its sums": {m, s, z, z}, "does not begin with its manifest": {s, m, z}, `"manifest.json", a file`: {m, m, s, z},
		`"store.db" is missing`: {m, z}, `"manifest.json" is not in its sums`: {m, s, "swapped"}, "cut off": {m, s},
		`"store.db" twice`: {m, s, s, z},
	} {
		hostile := packed(t, func(out *tar.Writer) {
			for _, name := range names {
				content := contents[name]
				if name == "swapped" {
					name, content = z, swapped
				}
				head := *heads[name]
				head.Size = int64(len(content))
				check(t, out.WriteHeader(&head))
				must[int](t)(out.Write(content))
			}
		})
		_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(hostile)})
		if fault.CodeOf(err) != fault.InvalidFile || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", names, err)
		}
	}
	if _, err := os.Stat(to.path("holdco.db")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a store was made")
	}
}

// A server has the store: nothing is restored over it, and once it is gone, something is.
func TestAServerKeepsItsStore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		file := p.saved(t)
		stop := p.serve(t)
		_, err := p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true})
		if err == nil || !strings.HasSuffix(err.Error(), "stop it first") || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
		if got := p.count(t, "activity"); got != 1 {
			t.Errorf("%d entries", got)
		}
		stop()
		must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
		p.serve(t)()
	})
}
