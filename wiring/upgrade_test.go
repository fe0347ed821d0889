package wiring_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdco/adapters/archive"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/backup"
)

// The program is exchanged for one that needs another schema.
func TestTheStoreOfAReleaseIsBackedUpMigratedAndServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const kept = "../testdata/released/0.1.0/sqlite"
	unpackStore(t, kept+".tar.zst", filepath.Join(dir, "holdco.db"))
	key, err := os.ReadFile(kept + ".key")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "key"), key, 0o600))
	environ := []string{dataDir + dir}
	if printed, ok := runHoldco(t, environ, "token", "list"); ok || !strings.Contains(printed, `run "holdco migrate up"`) {
		t.Errorf("a command on an older schema: %s", printed)
	}
	backups := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "pre-*.tar.zst"))
		must(t, err)
		return found
	}
	blocked := []string{dataDir + dir, "HOLDCO_BACKUP_DIR=" + filepath.Join(dir, "missing")}
	for command, says := range map[string]string{
		"migrate up": "was not migrated", "serve": "must be the path of a directory that is there",
	} {
		if printed, ok := runHoldco(t, blocked, strings.Fields(command)...); ok || !strings.Contains(printed, says) {
			t.Errorf("%s without the folder of backups: %s", command, printed)
		}
	}

	server := startProcess(t, environ...)
	made := backups()
	if len(made) != 1 {
		t.Fatalf("backups: %v", made)
	}
	var token struct{ Token string }
	must(t, json.Unmarshal([]byte(mustRun(t, environ, "token", "create", "--json", "--name", "new", "--scopes", "admin")), &token))
	companies := resttest.New(t, server.url, token.Token).Get("/v1/companies")
	companies.Is(t, http.StatusOK, "")
	if !strings.Contains(string(companies.Body), `"slug":"acme"`) {
		t.Errorf("%s", companies.Body)
	}
	if wrong := examine(t, environ...); wrong != nil {
		t.Error(wrong)
	}
	server.kill()
	if printed := mustRun(t, environ, "restore", "--check", made[0]); !strings.Contains(printed, "schema") {
		t.Error(printed)
	}
	startProcess(t, environ...).kill()
	if again := backups(); len(again) != 1 {
		t.Errorf("a start that migrates nothing has made a backup: %v", again)
	}
}

// unpackStore takes the file of SQLite out of a backup.
func unpackStore(t *testing.T, from, to string) {
	t.Helper()
	file, err := os.Open(from)
	must(t, err)
	defer file.Close()
	reader, err := archive.Archives{}.Read(file, "")
	must(t, err)
	defer reader.Close()
	for {
		entry, err := reader.Next()
		must(t, err)
		if entry.Name != backup.StoreName {
			continue
		}
		content, err := io.ReadAll(reader)
		must(t, err)
		must(t, os.WriteFile(to, content, 0o600))
		return
	}
}

// What is restored as it is has to be migrated before anything works on it, and is ready for work then.
func TestAStoreOfAReleaseIsRestoredAsItIs(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		engine := "sqlite"
		if len(environ) > 1 {
			engine = "postgres"
		}
		kept, err := filepath.Abs("../testdata/released/0.1.0/" + engine)
		must(t, err)
		key, err := os.ReadFile(kept + ".key")
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "key"), key, 0o600))
		if printed, ok := runHoldco(t, environ, "restore", "--no-migrate", "--check", kept+".tar.zst"); ok ||
			!strings.Contains(printed, "--check does not go with --no-migrate") {
			t.Errorf("a trial of what is not migrated: %s", printed)
		}
		printed := mustRun(t, environ, "restore", "--no-migrate", kept+".tar.zst")
		if !strings.Contains(printed, "restored: schema 36,") || !strings.Contains(printed, `run "holdco migrate up"`) {
			t.Error(printed)
		}
		for _, command := range []string{"serve --no-migrate", "token list", "doctor --only store.schema"} {
			if printed, ok := runHoldco(t, environ, strings.Fields(command)...); ok || !strings.Contains(printed, "holdco migrate up") {
				t.Errorf("%s on an older schema: %s", command, printed)
			}
		}
		before := stateOf(t, environ)
		isPending := func(one migrationState) bool { return one.AppliedAt == nil }
		newer := func(one migrationState) bool { return one.Version > 36 }
		rewrites := func(one migrationState) bool { return len(one.Rewrites) > 0 }
		if before.Version != 36 || before.CompatibleFrom != 0 || !before.Unsettled || before.CopyBytes == 0 ||
			before.NewestKnown != before.Migrations[len(before.Migrations)-1].Version || before.Pending == 0 ||
			before.Pending != before.count(isPending) || before.Pending != before.count(newer) || before.count(rewrites) == 0 {
			t.Errorf("%+v", before)
		}
		if said := mustRun(t, environ, "migrate", "up", "--no-backup"); !strings.Contains(said, "made ready for work after a restoration") {
			t.Error(said)
		}
		after := stateOf(t, environ)
		if after.Version != before.NewestKnown || after.NewestKnown != before.NewestKnown || after.CompatibleFrom == 0 || after.Unsettled ||
			after.Pending != 0 || after.count(isPending) > 0 {
			t.Errorf("%+v", after)
		}
		startProcess(t, environ...)
		if wrong := examine(t, environ...); wrong != nil {
			t.Error(wrong)
		}
	})
}

// schemaState is what "holdco migrate status --json" prints.
type schemaState struct {
	Version, CompatibleFrom, NewestKnown, CopyBytes int64

	Unsettled  bool
	Pending    int
	Migrations []migrationState
}

type migrationState struct {
	Version   int64
	Name      string
	AppliedAt *time.Time
	Rewrites  []string
}

func (s schemaState) count(is func(one migrationState) bool) (count int) {
	for _, one := range s.Migrations {
		if is(one) {
			count++
		}
	}
	return count
}

// stateOf fails if there is anything else in what is printed, or less.
func stateOf(t *testing.T, environ []string) (found schemaState) {
	t.Helper()
	printed := mustRun(t, environ, "migrate", "status", "--json")
	decoder := json.NewDecoder(strings.NewReader(printed))
	decoder.DisallowUnknownFields()
	must(t, decoder.Decode(&found))
	for _, name := range strings.Fields("version compatibleFrom newestKnown copyBytes unsettled pending migrations rewrites") {
		if !strings.Contains(printed, `"`+name+`":`) {
			t.Errorf("%s is not in %s", name, printed)
		}
	}
	return found
}
