package wiring_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"holdco/adapters/http/browsertest"
	"holdco/adapters/limits/redislimit/redistest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/system/processtest"
)

// panicsVariable makes TestAPanicLeavesNoPostgresRedisOrBrowser the test that panics.
const panicsVariable = "HOLDCO_TEST_PANICS"

// A test binary starts everything that tests start, and panics: none of it may remain.
func TestAPanicLeavesNoPostgresRedisOrBrowser(t *testing.T) {
	t.Parallel()
	if os.Getenv(panicsVariable) != "" {
		startEverything(t)
		return
	}
	binary, err := os.Executable()
	must(t, err)
	tests := exec.Command(binary, "-test.run", "^"+t.Name()+"$")
	original := filepath.Dir(os.TempDir()) // nested folders would be too long for the names of sockets
	tests.Env = append(os.Environ(), panicsVariable+"=1", "TMPDIR="+original)
	input, err := tests.StdinPipe()
	must(t, err)
	output, err := tests.StdoutPipe()
	must(t, err)
	tests.Stderr = tests.Stdout
	must(t, tests.Start())
	var said []string
	for lines := bufio.NewScanner(output); !slices.Contains(said, everythingRuns) && lines.Scan(); {
		said = append(said, lines.Text())
	}
	started := descendants(t, tests.Process.Pid)
	must(t, input.Close())
	var names []string
	for _, one := range started {
		names = append(names, one.name)
	}
	for name, count := range map[string]int{"postgres": 2, "redis-server": 1, "holdco": 2, "chrom": 2} {
		have := len(slices.DeleteFunc(slices.Clone(names), func(one string) bool { return !strings.HasPrefix(one, name) }))
		if have < count {
			t.Errorf("%d processes of %s were started, want %d or more: %q\n%s", have, name, count, names, strings.Join(said, "\n"))
		}
	}
	rest, _ := io.ReadAll(output)
	if err := tests.Wait(); err == nil || !strings.Contains(string(rest), "panic: the tests end early") {
		t.Errorf("the tests ended with %v:\n%s", err, rest)
	}
	await(t, "the end of all processes", func() bool {
		return !slices.ContainsFunc(started, running.stillRuns)
	})
}

const everythingRuns = "everything runs"

// startEverything starts servers, a browser and a script with a program in the background, and panics when its input ends.
func startEverything(t *testing.T) {
	redistest.New(t)
	browsertest.Open(t)
	startProcess(t, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t))
	scripts := t.TempDir()
	must(t, os.WriteFile(filepath.Join(scripts, "panic.txtar"), []byte("exec holdco serve &\npanic\n"), 0o600))
	testscript.Run(t, testscript.Params{
		Dir: scripts,
		Setup: func(env *testscript.Env) error {
			env.Setenv(processtest.Environ())
			env.Vars = append(append(env.Vars, dataDir+env.WorkDir), anyPorts...)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"panic": func(*testscript.TestScript, bool, []string) {
				fmt.Println("\n" + everythingRuns)
				_, _ = io.ReadAll(os.Stdin)
				go panic("the tests end early")
				select {}
			},
		},
	})
}

// running is a process: its number may be another's later, its number and its start together are its own.
type running struct {
	pid, parent int
	name, start string
}

// descendants returns the processes below another one.
func descendants(t *testing.T, pid int) (found []running) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	must(t, err)
	var all []running
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil {
			if one, ok := inspect(number); ok {
				all = append(all, one)
			}
		}
	}
	within := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for _, one := range all {
			if within[one.parent] && !within[one.pid] {
				within[one.pid], grown = true, true
				found = append(found, one)
			}
		}
	}
	return found
}

// inspect reads what the kernel says of a process. One that has ended and that its parent did not wait for is none.
func inspect(pid int) (running, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return running{}, false
	}
	head, tail, _ := strings.Cut(string(text), ") ")
	_, name, _ := strings.Cut(head, " (")
	fields := strings.Fields(tail)
	parent, err := strconv.Atoi(fields[1])
	const start = 19 // of the fields after the name
	return running{pid, parent, name, fields[start]}, err == nil && fields[0] != "Z"
}

func (r running) stillRuns() bool {
	now, ok := inspect(r.pid)
	return ok && now.start == r.start
}
