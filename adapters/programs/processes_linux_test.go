package programs_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/programs"
	"holdco/domain/id"
)

// ofRun returns the processes of a run.
func ofRun(run id.Run) (pids []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte("HOLDCO_RUN_ID="+run)) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

func TestProcessesThatLeftTheSessionAreKilled(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"detach", "rest"} { // after the program has ended, and while it runs
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			w := newPrograms(t)
			running, pid := w.first(own(role, nil))
			running.Stop()
			exit(t, running)
			if left := ofRun(w.id); runs(pid) || len(left) > 0 {
				t.Errorf("processes %d and %v are left", pid, left)
			}
		})
	}
}

func TestProcessesThatForkAsTheyAreKilledAreKilled(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one that has ended": `exec 4>"$PIPE"; exec "$0"`,
		"some at work":       `exec 4>"$PIPE"; for n in 1 2 3 4; do "$0" & done; wait; exec sleep 100`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPrograms(t)
			pipe := filepath.Join(t.TempDir(), "pipe")
			must(t, syscall.Mkfifo(pipe, 0o600))
			writers, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			must(t, err)
			defer writers.Close()
			program := own("hydra", nil)
			program.Command = []string{"sh", "-c", text, program.Command[0]}
			program.Env["PIPE"] = pipe
			running := w.start(program)
			if name == "some at work" {
				await(t, "the start", func() bool { return strings.Contains(w.log(), "many") })
				running.Stop()
			}
			exit(t, running)
			must(t, writers.SetReadDeadline(time.Now().Add(time.Minute)))
			if _, err := io.ReadAll(writers); err != nil { // it ends when nobody has the pipe
				t.Error(err)
			}
		})
	}
}

func TestAProcessThatEscapesHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"escape", "flood"} { // with the pipe of the output in its hands
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			w := newPrograms(t)
			running, pid := w.first(own(role, nil))
			exit(t, running)
			if role == "escape" && !runs(pid) { // the other one may end, because nobody reads its output any more
				t.Error("it did not escape")
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
		})
	}
}

func TestWhatAKilledHolderLeavesInOtherSessionsIsKilled(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	name, pid, kill := w.another("rest")
	kill()
	if names, err := w.Ended(); !slices.Equal(names, []string{name}) || err != nil || runs(pid) {
		t.Errorf("Ended() = %v, %v", names, err)
	}
}

func TestALogWhoseWriterWasKilledIsRead(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	_, _, kill := w.another("flow")
	await(t, "a gap in the log", func() bool {
		_, next, err := w.Read(company, w.id, 0)
		return err == nil && next > programs.HeadSize+4*programs.TailSize
	})
	kill()
	if _, err := w.Ended(); err != nil {
		t.Error(err)
	}
	written, next, err := w.Read(company, w.id, 0)
	must(t, err)
	head, rest, _ := strings.Cut(string(written), "\n[... ")
	var missing int
	if _, err := fmt.Sscanf(rest, "%d bytes left out ...]\n", &missing); err != nil {
		t.Fatal(err)
	}
	_, tail, _ := strings.Cut(rest, "\n")
	if len(head) != programs.HeadSize || len(tail) < programs.TailSize || len(tail) > 2*programs.TailSize ||
		len(head)+missing+len(tail) != int(next) {
		t.Errorf("the log has %d bytes, a gap of %d, and %d; next is %d", len(head), missing, len(tail), next)
	}
	if again, after, err := w.Read(company, w.id, next); len(again) > 0 || after != next || err != nil {
		t.Errorf("then there are %d bytes, %d, %v", len(again), after, err)
	}
}
