package wiring_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// onAFullDisk runs a command whose files cannot grow beyond a size: that is a full disk for one process, and needs no privileges. It has to
// fail with exit code 1 and one line, which says that.
func onAFullDisk(t *testing.T, environ []string, bytes int, args ...string) {
	t.Helper()
	command := exec.Command("prlimit", append([]string{fmt.Sprint("--fsize=", bytes), "holdco"}, args...)...)
	command.Env = append(os.Environ(), environ...)
	printed, err := command.CombinedOutput()
	said := string(printed)
	if command.ProcessState == nil {
		t.Fatalf("the test needs prlimit (Debian: util-linux): %v", err)
	}
	switch code := command.ProcessState.ExitCode(); {
	case code != 1 || strings.Count(said, "holdco: ") != 1 || !strings.HasSuffix(said, "\n"):
		t.Errorf("%v with %d bytes: exit code %d, %s", args, bytes, code, said)
	case !full.MatchString(said):
		t.Errorf("%v with %d bytes does not say that the disk is full: %s", args, bytes, said)
	}
}

// full is what is said of a disk that is full, and of this limit instead.
var full = regexp.MustCompile("is full|no space left|file too large|disk I/O error")

// A disk that becomes full in the middle of a command leaves what there was, and no files; with room again the command ends what it began.
func TestADiskThatIsFullInTheMiddleOfACommandLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{dataDir + dir}
	server := startProcess(t, environ...)
	ask := resttest.New(t, server.url, string(rootToken))
	acme := foundAcme(t, ask)
	server.end(t)
	noise := make([]byte, 4<<20) // which does not become smaller in a backup
	_, _ = rand.Read(noise)
	must(t, os.WriteFile(filepath.Join(dir, "workspaces", acme.ID, "noise"), noise, 0o600))
	file, sample := filepath.Join(dir, "b.tar.zst"), filepath.Join(dir, "sample")
	mustRun(t, nil, "leads", "generate", "--count", "6000", "--seed", "1", "--out", sample)
	mustRun(t, environ, "taxonomy", "import", sample+"/taxonomy.json")
	mustRun(t, environ, "campaigns", "import", sample+"/campaigns.ndjson")
	store := sqlDriver{"sqlite", filepath.Join(dir, "holdco.db")}
	isAsBefore := func(what string) {
		t.Helper()
		if wrong := examine(t, environ...); wrong != nil {
			t.Errorf("%s: %v", what, wrong)
		}
		if got := scalar[int64](t, store, "SELECT count(*) FROM companies"); got != 1 {
			t.Errorf("%s: there are %d companies", what, got)
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*.partial-*"))
		if err != nil || left != nil {
			t.Errorf("%s: left are %v, %v", what, left, err)
		}
	}

	for _, bytes := range []int{100_000, 2 << 20} { // in the copy of the store, and in the file
		onAFullDisk(t, environ, bytes, "backup", "--workspaces", file)
		if _, err := os.Stat(file); err == nil {
			t.Errorf("there is a backup of no more than %d bytes", bytes)
		}
	}
	isAsBefore("backup")
	mustRun(t, environ, "backup", "--workspaces", file)
	for _, bytes := range []int{10_000, 500_000} {
		onAFullDisk(t, environ, bytes, "restore", "--replace", file)
	}
	isAsBefore("restore")

	onAFullDisk(t, environ, 1<<20, "leads", "import", sample+"/leads.ndjson")
	isAsBefore("import")
	mustRun(t, environ, "leads", "import", sample+"/leads.ndjson")
	if got := scalar[int64](t, store, "SELECT count(*) FROM leads"); got != 6000 {
		t.Errorf("there are %d leads after the import", got)
	}
	to := filepath.Join(dir, "moved", "holdco.db")
	for _, bytes := range []int{2 << 20, 4 << 20} {
		onAFullDisk(t, environ, bytes, "move", "--to", "sqlite://"+to)
	}
	mustRun(t, environ, "move", "--to", "sqlite://"+to)
	environ = append(environ, databaseURL+"sqlite://"+to)
	store.address = to
	isAsBefore("move")
	server = startProcess(t, environ...)
	resttest.New(t, server.url, string(rootToken)).Get("/v1/companies/"+acme.ID).Is(t, http.StatusOK, "")
}
