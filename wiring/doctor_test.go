package wiring_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// examine runs the checks of the store that the variables name, as an operator would beside its servers, and returns what is wrong:
// the message of each check that finds something.
func examine(t *testing.T, environ ...string) (wrong []string) {
	t.Helper()
	command := exec.Command("holdco", "doctor", "--json", "--timeout", "10m")
	command.Env = append(os.Environ(), environ...)
	var problems strings.Builder
	command.Stderr = &problems
	out, err := command.Output() // fails too when something is wrong
	var report struct {
		Checks []struct {
			Name, Severity, Message string
			Examples                []map[string]string
		}
	}
	if json.Unmarshal(out, &report) != nil || len(report.Checks) == 0 {
		t.Fatalf("holdco doctor: %v, %s", err, problems.String())
	}
	for _, one := range report.Checks {
		if one.Severity != "ok" && one.Severity != "note" {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %s %v", one.Name, one.Severity, one.Message, one.Examples))
		}
	}
	return wrong
}

// isLeftover reports whether what examine found is what a killed restoration has left, which the next one removes.
func isLeftover(wrong string) bool {
	return strings.HasPrefix(wrong, "growth: warning: the schema holdco_restoring_")
}

// What only looks leaves nothing, also where there is no store yet.
func TestCommandsThatLookWriteNothingToAnEmptyPostgres(t *testing.T) {
	t.Parallel()
	address := postgrestest.EmptyURL(t)
	environ := []string{dataDir + t.TempDir(), databaseURL + address}
	for _, c := range []struct {
		args []string
		ok   bool
		says string
	}{
		{[]string{"migrate", "status"}, true, "pending"},
		{[]string{"doctor"}, false, "the schema lacks the migration 00001_companies.sql; run: holdco migrate up"},
		{[]string{"prune", "--dry-run"}, false, `run "holdco migrate up"`},
		{[]string{"token", "list"}, false, `run "holdco migrate up"`},
		{[]string{"audit", "verify", "instance"}, false, `run "holdco migrate up"`},
	} {
		if printed, ok := runHoldco(t, environ, c.args...); ok != c.ok || !strings.Contains(printed, c.says) {
			t.Errorf("%v: %s", c.args, printed)
		}
	}
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer db.Close()
	var tables int
	must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables))
	if tables != 0 {
		t.Errorf("there are %d tables", tables)
	}
}

func TestAnEmptyFileIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{dataDir + dir}
	other := t.TempDir()
	mustRun(t, []string{dataDir + other}, "migrate", "up")
	archive := filepath.Join(other, "backup.tar.zst")
	mustRun(t, []string{dataDir + other}, "backup", archive)
	must(t, os.WriteFile(filepath.Join(dir, "holdco.db"), nil, 0o600))
	for _, args := range [][]string{{"doctor"}, {"token", "list"}} {
		printed, ok := runHoldco(t, environ, args...)
		if ok || !strings.Contains(printed, "holdco.db is empty, as a loss of power may leave") {
			t.Errorf("%v: %s", args, printed)
		}
	}
	if left := mustGlob(t, filepath.Join(dir, "holdco.db*")); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
	mustRun(t, environ, "restore", archive)
	mustRun(t, environ, "token", "list")
}

func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	must(t, err)
	return found
}

func TestTheStoreOfAServerThatWasKilledIsWell(t *testing.T) {
	t.Parallel()
	examined := func(t *testing.T, environ ...string) {
		t.Helper()
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		ask.Post("/v1/companies", named("acme")).Is(t, http.StatusCreated, "")
		server.kill()
		if wrong := examine(t, environ...); wrong != nil {
			t.Error(wrong)
		}
		database := beside(environ)
		runOn(t, database, "UPDATE companies SET agent_count = 7")
		if wrong := examine(t, environ...); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "companies: error: differences: 1;") {
			t.Error(wrong)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		examined(t, dataDir+t.TempDir())
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		examined(t, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t))
	})
}

// Companies come and go, with their directories, while what is checked is read.
func TestBesideAServerWithWritersADoctorGivesNoFalseAlarm(t *testing.T) {
	t.Parallel()
	besides := func(t *testing.T, environ ...string) {
		t.Helper()
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		ask.Post("/v1/webhooks", `{"url":"https://example.com"}`).Is(t, http.StatusCreated, "")
		var writers sync.WaitGroup
		stop := make(chan struct{})
		for writer := range 2 {
			writers.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					made := ask.Post("/v1/companies", named(fmt.Sprintf("acme-%d-%d", writer, n)))
					path := made.Header.Get("Location")
					ask.Post(path+"/issues", `{"title":"Call"}`)
					if n%2 == 0 {
						ask.Delete(path)
					}
				}
			})
		}
		for range 2 {
			for _, one := range examine(t, environ...) {
				t.Error(one)
			}
		}
		close(stop)
		writers.Wait()
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		besides(t, dataDir+t.TempDir(), "HOLDCO_RATE_WRITE=off")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		besides(t, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t), "HOLDCO_RATE_WRITE=off")
	})
}

// A store of long ago keeps what becomes free of its file, until it is written anew while no server runs.
func TestAnOldStoreIsMadeToGiveSpaceBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{dataDir + dir}
	mustRun(t, environ, "migrate", "up")
	file := sqlDriver{"sqlite", filepath.Join(dir, "holdco.db")}
	runOn(t, file, "PRAGMA auto_vacuum = 0; VACUUM")
	const isOld = "stop the server, and run: holdco doctor --fix --only disk"
	says := func(want string, args ...string) {
		t.Helper()
		if printed := mustRun(t, environ, append([]string{"doctor"}, args...)...); !strings.Contains(printed, want) {
			t.Errorf("%v: %s", args, printed)
		}
	}
	says(isOld, "--only", "disk")
	server := startProcess(t, environ...)
	says(isOld, "--fix", "--only", "disk")
	server.end(t)
	says(isOld, "--fix") // it is not done beside all else
	says("repaired: 1", "--fix", "--only", "disk")
	says("ok", "--fix", "--only", "disk")
	if mode := scalar[int64](t, file, "PRAGMA auto_vacuum"); mode != 2 {
		t.Errorf("auto_vacuum is %d", mode)
	}
	if wrong := examine(t, environ...); wrong != nil {
		t.Error(wrong)
	}
}
