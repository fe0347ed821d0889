package wiring_test

import (
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
