package wiring_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		status := mustRun(t, environ, "migrate", "status", "--json")
		if !strings.Contains(status, `"version":36`) && !strings.Contains(status, `"version": 36`) {
			t.Error(status)
		}
		if said := mustRun(t, environ, "migrate", "up", "--no-backup"); !strings.Contains(said, "made ready for work after a restoration") {
			t.Error(said)
		}
		startProcess(t, environ...)
		if wrong := examine(t, environ...); wrong != nil {
			t.Error(wrong)
		}
	})
}
