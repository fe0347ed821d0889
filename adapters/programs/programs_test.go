package programs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/programs"
	"holdco/adapters/system/processtest"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/outbound"
)

func TestAProgramGetsItsVariablesAndNoneOfTheServer(t *testing.T) {
	t.Setenv("HOLDCO_KEY_FILE", "/secret")
	t.Setenv("OPENAI_API_KEY", "sk-server")
	w := newPrograms(t)
	for _, name := range []string{"HOME", "LANG", "TZ", "TMPDIR"} {
		t.Setenv(name, "/"+name)
	}
	program := command("env")
	program.Env = map[string]string{"TZ": "Europe/Berlin", "OWN": "a=b c", "HOLDCO_RUN_ID": "forged", "HOLDCO_ATTEMPT": "2"}
	got := map[string]string{}
	for line := range strings.Lines(w.run(program).Output) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[name] = value
	}
	place := w.workspace(theIssue)
	want := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": "/HOME", "LANG": "/LANG", "TZ": "Europe/Berlin", "TMPDIR": "/TMPDIR",
		"OWN": "a=b c", "HOLDCO_ATTEMPT": "2", "HOLDCO_RUN_ID": string(w.id), "HOLDCO_WORKSPACE": place,
		"HOLDCO_CONTEXT_FILE": filepath.Join(place, ".holdco/context.json"),
		"HOLDCO_MCP_FILE":     filepath.Join(place, ".holdco/mcp.json"),
		"HOLDCO_RESULT_FILE":  filepath.Join(place, ".holdco/result.json"),
	}
	if !maps.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
}

// It is not parallel: it counts goroutines.
func TestInputThatNobodyReadsIsNoFailure(t *testing.T) {
	w := newPrograms(t)
	before := runtime.NumGoroutine()
	large := bytes.Repeat([]byte("input\n"), 1<<20)
	for what, text := range map[string]string{
		"reads all":       "cat | wc -c | tr -d ' '",
		"reads a line":    "read line; echo $line",
		"closes it":       "exec <&-; echo closed",
		"does not care":   "echo ended",
		"leaves a reader": "sleep 100 <&0 >&0 & echo left",
	} {
		program := script(text)
		program.Stdin, program.Run = large, runOf(t, what)
		want := map[string]string{
			"reads all": fmt.Sprintln(len(large)), "reads a line": "input\n", "closes it": "closed\n", "does not care": "ended\n",
			"leaves a reader": "left\n",
		}[what]
		if got := w.run(program); got.Output != want || got.Code != 0 {
			t.Errorf("one that %s: %+v", what, got)
		}
	}
	program := script("cat; echo end")
	program.Run = runOf(t, "none")
	if got := w.run(program); got.Output != "end\n" {
		t.Errorf("without input: %+v", got)
	}
	await(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

const notAFile = "The result file is a link, a directory or another thing that is not a regular file."

func TestTheEndOfAProgramIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want outbound.Exit
	}{
		"success without a result": {"echo done; echo problem >&2", outbound.Exit{Output: "done\n", Errors: "problem\n"}},
		"a code":                   {"printf x; exit 3", outbound.Exit{Code: 3, Output: "x"}},
		"a signal":                 {"kill -USR1 $$", outbound.Exit{Signal: int(syscall.SIGUSR1)}},
		"a result":                 {`printf '{"a":1}' >"$HOLDCO_RESULT_FILE"; exit 1`, outbound.Exit{Code: 1, Result: []byte(`{"a":1}`)}},
		"an empty result":          {`: >"$HOLDCO_RESULT_FILE"`, outbound.Exit{Result: []byte{}}},
		"a result that is a link":  {`echo 1 >x; ln -s ../x "$HOLDCO_RESULT_FILE"`, outbound.Exit{ResultProblem: notAFile}},
		"one that is a directory":  {`mkdir "$HOLDCO_RESULT_FILE"`, outbound.Exit{ResultProblem: notAFile}},
		"one that is a pipe":       {`mkfifo "$HOLDCO_RESULT_FILE"`, outbound.Exit{ResultProblem: notAFile}},
		"a folder that is a link":  {`mv .holdco x; ln -s x .holdco; echo 1 >x/result.json`, outbound.Exit{ResultProblem: notAFile}},
		"no folder":                {`rm -r "$HOLDCO_WORKSPACE"`, outbound.Exit{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPrograms(t)
			got := w.run(script(c.text))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAResultHasALargestSize(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	for size, kept := range map[int]bool{issue.ResultSize: true, issue.ResultSize + 1: false} {
		program := script(fmt.Sprintf(`head -c %d /dev/zero >"$HOLDCO_RESULT_FILE"`, size))
		program.Run = runOf(t, fmt.Sprint(size))
		if got := w.run(program); (got.Result != nil) != kept || kept && len(got.Result) != size || got.ResultIsTooLarge == kept {
			t.Errorf("of %d bytes %d are kept; they are too many: %t", size, len(got.Result), got.ResultIsTooLarge)
		}
	}
}

func TestTheWorkspaceIsKeptAndTheResultIsNot(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	program := script(`cp "$HOLDCO_CONTEXT_FILE" kept; cat "$HOLDCO_MCP_FILE"; echo 1 >"$HOLDCO_RESULT_FILE"`)
	program.Context, program.MCP = []byte("context of the first"), []byte("mcp")
	if got := w.run(program); got.Output != "mcp" || string(got.Result) != "1\n" {
		t.Errorf("the first attempt: %+v", got)
	}
	program = script(`cat kept "$HOLDCO_CONTEXT_FILE" "$HOLDCO_MCP_FILE"`)
	program.Run, program.Context, program.MCP = runOf(t, "second"), []byte(", of the second"), []byte(", more")
	if got := w.run(program); got.Output != "context of the first, of the second, more" || got.Result != nil {
		t.Errorf("the second attempt: %+v", got)
	}
	for _, path := range []string{".", "workspaces", "workspaces/" + string(company), w.workspace(theIssue),
		w.workspace(theIssue) + "/.holdco", "workspaces/" + string(company) + "/logs", "holders"} {
		if path == "." {
			continue // the test has made it
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.data, path)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestInstructionsAreWrittenIntoANewWorkspaceAlone(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	issueOf := func(name string) id.Issue {
		return id.Issue(strings.Replace(string(runOf(t, name)), "run_", "iss_", 1))
	}
	run := func(name, text string, alter func(program *outbound.Program), want string) {
		t.Helper()
		program := script(text)
		program.Issue, program.Run, program.Instructions = issueOf(name), runOf(t, name, text), []byte("Be brief.\n")
		if alter != nil {
			alter(&program)
		}
		if got := w.run(program); got.Output != want || got.Code != 0 {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
	run("new", "cat AGENTS.md CLAUDE.md; rm AGENTS.md; echo mine >CLAUDE.md", nil, "Be brief.\nBe brief.\n")
	run("new", "ls; cat CLAUDE.md", nil, "CLAUDE.md\nmine\n") // nothing is written a second time
	inside := func(program *outbound.Program) { program.Directory = "a/b" }
	run("inside", `cat "$HOLDCO_WORKSPACE"/*.md; ls`, inside, "Be brief.\nBe brief.\n")
	run("none", "ls", func(program *outbound.Program) { program.Instructions = nil }, "")
	run("none", "ls .", nil, "") // it is there already

	// A program of another issue can make a workspace before it is used, with links that lead elsewhere.
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	run("maker", fmt.Sprintf("mkdir ../%[1]s; ln -s %[2]s ../%[1]s/AGENTS.md", issueOf("made"), elsewhere), nil, "")
	run("made", "ls", nil, "AGENTS.md\n")
	if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link was followed: %v", err)
	}
}

func TestADirectoryOfTheWorkspaceIsMade(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	other := id.New[id.Issue]([16]byte{15: 9})
	program := script("mkdir deep; ln -s deep relative; ln -s ../" + string(other) + " other; ln -s $PWD/deep absolute")
	program.Issue = theIssue
	w.run(program)
	program.Issue, program.Run = other, runOf(t, "other")
	w.run(program)
	for directory, want := range map[string]string{
		"": "", ".": "", "deep": "/deep", "new/one": "/new/one", "relative/new": "/deep/new", "absolute": "/deep", "deep/../x": "/x",
		"absolute/newer": "/deep/newer", "other/new": "/../" + string(other) + "/new",
	} {
		program := script("/bin/pwd -P")
		program.Directory, program.Run = directory, runOf(t, directory)
		if got := w.run(program); got.Output != filepath.Join(w.workspace(theIssue), want)+"\n" {
			t.Errorf("%q is %q", directory, got.Output)
		}
	}
}

func TestNothingLeadsOutOfTheDirectoryOfTheCompany(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	outside := t.TempDir()
	treasure := filepath.Join(outside, "result.json")
	must(t, os.WriteFile(treasure, []byte("treasure"), 0o600))
	plant := script(`ln -s "$1" out; mkdir in; ln -s ../../../.. in/up; ln -s nowhere dangling; : >file; ln -s "$1/new" new`)
	plant.Command = append(plant.Command, "sh", outside)
	w.run(plant)
	const linked = "it leads out of the directory of the company."
	for directory, want := range map[string]string{
		"..":              `The directory ".." leads out of the workspace.`,
		"in/../../other":  `The directory "in/../../other" leads out of the workspace.`,
		"/etc":            `The directory "/etc" leads out of the workspace.`,
		"out":             `The directory "out" cannot be used: ` + linked,
		"out/deep/in":     `The directory "out/deep/in" cannot be used: ` + linked,
		"in/up":           `The directory "in/up" cannot be used: ` + linked,
		"in/up/elsewhere": `The directory "in/up/elsewhere" cannot be used: ` + linked,
		"file":            `The directory "file" cannot be used: file exists.`,
		"file/below":      `The directory "file/below" cannot be used: not a directory.`,
		"dangling":        `The directory "dangling" cannot be used: file exists.`,
		"new":             `The directory "new" cannot be used: path escapes from parent.`,
		"a\x00b":          `The directory "a\x00b" cannot be used: invalid argument.`,
	} {
		program := script("touch was-here")
		program.Directory, program.Run = directory, runOf(t, directory+"out")
		w.refuses(program, want)
	}
	w.leavesAlone(outside, treasure)
	if entries, err := filepath.Glob(filepath.Join(w.data, "workspaces", "*")); err != nil || len(entries) != 1 {
		t.Errorf("beside the company: %v, %v", entries, err)
	}
}

func TestLinksThatAProgramLeavesAreNotFollowed(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	outside := t.TempDir()
	treasure := filepath.Join(outside, "result.json")
	must(t, os.WriteFile(treasure, []byte("treasure"), 0o600))
	for n, text := range []string{
		`rm -r .holdco; ln -s "$1" .holdco`,
		`cd .holdco; rm -f *; ln -s "$1/context.json"; ln -s "$1/result.json"; ln -s "$1/result.json" mcp.json`,
		`rm -rf ../../logs; ln -s "$1" ../../logs`,
		`cd .holdco; rm -f *; mkdir result.json context.json; mkfifo mcp.json`,
		`rm -r .holdco; mkfifo .holdco`,
		`exit`,
	} {
		program := script(text)
		program.Command = append(program.Command, "sh", outside)
		program.Run = runOf(t, fmt.Sprint("plant", n))
		program.Context, program.MCP = []byte("context"), []byte("mcp")
		if got := w.run(program); got.Code != 0 || got.Result != nil {
			t.Errorf("%s: %+v", text, got)
		}
		w.leavesAlone(outside, treasure)
		program = script(`cat "$HOLDCO_CONTEXT_FILE" "$HOLDCO_MCP_FILE"`)
		program.Run, program.Context, program.MCP = runOf(t, fmt.Sprint(n)), []byte("context"), []byte("mcp")
		if got := w.run(program); got.Output != "contextmcp" || got.Result != nil {
			t.Errorf("after %s: %+v", text, got)
		}
		if written, _, err := w.Read(company, program.Run, 0); string(written) != "contextmcp" {
			t.Errorf("the log after %s: %q, %v", text, written, err)
		}
		w.leavesAlone(outside, treasure)
	}

	must(t, os.RemoveAll(w.workspace(theIssue)))
	must(t, os.Symlink(outside, w.workspace(theIssue)))
	w.refuses(script("true"), "The workspace of the issue cannot be used: it leads out of the directory of the company.")
	must(t, os.RemoveAll(filepath.Join(w.data, "workspaces", string(company))))
	must(t, os.Symlink(outside, filepath.Join(w.data, "workspaces", string(company))))
	w.refuses(script("true"), "The directory of the company cannot be used: something else lies in its place.")
	w.leavesAlone(outside, treasure)
}

func TestAProgramThatCannotBeStartedSaysWhy(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	prepare := script(`mkdir bin; echo text >text; echo text >bin/plain; printf '\177ELF' >bad; printf '#!/nowhere/sh' >lost
		printf '#!/bin/sh\necho "$0 in PATH"' >bin/own; printf '#!/bin/sh\necho local' >run.sh; chmod +x bad lost bin/own run.sh`)
	w.run(prepare)
	place := w.workspace(theIssue)
	own := map[string]string{"PATH": "relative:" + place + "/bin:/nowhere"}
	for n, c := range []struct {
		command []string
		env     map[string]string
		want    string
	}{
		{nil, nil, "There is no command to run."},
		{[]string{""}, nil, "There is no command to run."},
		{[]string{"claud"}, nil, `There is no program "claud" in PATH.`},
		{[]string{"sh"}, own, `There is no program "sh" in PATH.`},
		{[]string{"plain"}, own, `The program "plain" is not executable.`},
		{[]string{"./text"}, nil, `The program "./text" is not executable.`},
		{[]string{"./bin"}, nil, `There is no program "./bin".`},
		{[]string{"./missing"}, nil, `There is no program "./missing".`},
		{[]string{place + "/missing"}, nil, fmt.Sprintf("There is no program %q.", place+"/missing")},
		{[]string{"./bad"}, nil, `The program "./bad" cannot be started: exec format error.`},
		{[]string{"./lost"}, nil, `The program "./lost" cannot be started: no such file or directory.`},
		{[]string{"true", "a\x00b"}, nil, `The program "true" cannot be started: invalid argument.`},
		{[]string{"true"}, map[string]string{"A=B": ""}, `The environment variable "A=B" has a name or a value that no program can get.`},
		{[]string{"true"}, map[string]string{"": ""}, `The environment variable "" has a name or a value that no program can get.`},
		{[]string{"true"}, map[string]string{"A": "\x00"}, `The environment variable "A" has a name or a value that no program can get.`},
		{[]string{"true", strings.Repeat("x", 8<<20)}, nil, `The program "true" cannot be started: argument list too long.`},
	} {
		program := command(c.command...)
		program.Env, program.Run = c.env, runOf(t, fmt.Sprint("wrong", n))
		w.refuses(program, c.want)
	}
	odd := command("true")
	odd.Run = w.id
	odd.Issue = "../.."
	w.refuses(odd, fmt.Sprintf("A program needs the ids of a company, an issue and a run, not %q, %q and %q.", company, odd.Issue, w.id))
	again := command("true")
	again.Run = w.id
	w.refuses(again, "The log of the run cannot be written: file exists.")

	for n, c := range []struct{ command, path, want string }{
		{"own", place + "/bin:/usr/bin:/bin", place + "/bin/own in PATH\n"},
		{"./run.sh", "", "local\n"},
		{place + "/run.sh", "", "local\n"},
	} {
		program := command(c.command)
		program.Env, program.Run = map[string]string{"PATH": c.path}, runOf(t, fmt.Sprint("right", n))
		if got := w.run(program); got.Output != c.want {
			t.Errorf("%s: %+v", c.command, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(w.data, "holders", w.Holder())); err != nil || len(entries) != 2 {
		t.Errorf("noted is %v, %v", entries, err)
	}
}

func TestALogThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	must(t, os.WriteFile(filepath.Join(w.data, "holders"), nil, 0o600))
	w.refuses(script("true"), "The program cannot be noted in the data directory: not a directory.")
	must(t, os.Remove(filepath.Join(w.data, "holders")))
	w.run(script("true"))

	blocked := newPrograms(t)
	must(t, os.WriteFile(filepath.Join(blocked.data, "workspaces"), nil, 0o600))
	blocked.refuses(script("true"), "The directory of the company cannot be used: not a directory.")
}

func TestOutputIsPassedOnAndItsEndKept(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	var all bytes.Buffer
	program := script(`i=0; while [ $i -lt 20000 ]; do echo "line $i äöü"; i=$((i+1)); done; echo problem >&2; printf '\377end\303'`)
	program.Output = func(written []byte) { all.Write(written) }
	got := w.run(program)
	if !strings.HasPrefix(all.String(), "line 0 äöü\n") || strings.Contains(all.String(), "problem") ||
		!strings.HasSuffix(all.String(), "line 19999 äöü\n\xffend\xc3") {
		t.Errorf("passed on are %d bytes", all.Len())
	}
	kept := strings.ToValidUTF8(all.String(), "\ufffd")
	if !strings.HasSuffix(kept, got.Output) || len(got.Output) > outbound.MostOutput || len(got.Output) < outbound.MostOutput-3 {
		t.Errorf("kept are %d bytes", len(got.Output))
	}
	log := w.log()
	if !strings.HasPrefix(log, "line 0 äöü\n") || !strings.Contains(log, "problem\n") || len(log) != all.Len()+len("problem\n") {
		t.Errorf("the log has %d bytes", len(log))
	}
}

func TestOutputThatIsTakenLateIsNotLost(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	const size = 50_000 // which a pipe holds
	program := script(fmt.Sprintf("echo $$; head -c %d /dev/zero | tr '\\0' x", size))
	pieces := 0
	program.Output = func(written []byte) {
		var pid int
		if pieces++; pieces > 1 {
			return
		}
		if _, err := fmt.Sscan(string(written), &pid); err != nil {
			t.Error(err)
			return
		}
		for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond) // until it has ended and was waited for
		}
	}
	if got := w.run(program); !strings.HasSuffix(got.Output, "\n"+strings.Repeat("x", size)) {
		t.Errorf("kept are %d bytes", len(got.Output))
	}
}

func TestTheEndOfTheOutputIsValidText(t *testing.T) {
	t.Parallel()
	const most = outbound.MostOutput
	for _, c := range []struct {
		chunks []string
		want   string
	}{
		{nil, ""},
		{[]string{"a", "b"}, "ab"},
		{[]string{"a\xff\xfeb"}, "a\ufffdb"},
		{[]string{"x", strings.Repeat("a", most)}, strings.Repeat("a", most)},
		{[]string{"€", strings.Repeat("a", most-1)}, strings.Repeat("a", most-1)},
		{[]string{"a", strings.Repeat("\xff", 3*most)}, "\ufffd"},
		{[]string{strings.Repeat("a\xff", most)}, strings.Repeat("a\ufffd", most/4)},
		{[]string{strings.Repeat("y", 3*most), "z"}, strings.Repeat("y", most-1) + "z"},
	} {
		if got := programs.Text(c.chunks...); got != c.want {
			t.Errorf("of %.20q are kept %d bytes, want %d", c.chunks, len(got), len(c.want))
		}
	}
}

func TestStopGivesAProgramItsGrace(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	running, _ := w.first(own("patient", nil))
	running.Stop()
	running.Stop()
	if got := exit(t, running); got.Code != 7 || !strings.HasSuffix(got.Output, "ended in order\n") {
		t.Errorf("one that ends in order: %+v", got)
	}
	running.Stop()
}

func TestStopKillsAProgramAfterItsGrace(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{0, 100 * time.Millisecond} {
		w := newPrograms(t)
		program := own("stubborn", nil)
		program.Grace = grace
		running, pid := w.first(program)
		running.Stop()
		if got := exit(t, running); got.Signal != 9 || runs(pid) {
			t.Errorf("after %s: %+v", grace, got)
		}
	}
}

func TestWhatAProgramLeavesInItsGroupIsKilled(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	program := own("sleep", nil)
	name, _ := processtest.Environ()
	program.Env["GO"] = filepath.Join(t.TempDir(), "go")
	must(t, syscall.Mkfifo(program.Env["GO"], 0o600))
	program.Command = []string{"sh", "-c", // the second is found by its group alone
		`"$0" & env -i "$1=$2" "$3=sleep" "$0" & read line <"$GO"; exit 5`,
		program.Command[0], name, program.Env[name], roleVariable}
	running := w.start(program)
	await(t, "the start of both", func() bool { return strings.Count(w.log(), "\n") == 2 })
	must(t, os.WriteFile(program.Env["GO"], []byte("\n"), 0))
	got := exit(t, running)
	if got.Code != 5 {
		t.Errorf("got %+v", got)
	}
	for line := range strings.Lines(got.Output) {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err != nil || runs(pid) {
			t.Errorf("process %d is left, %v", pid, err)
		}
	}
}

func TestManyProgramsRunAtOnce(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	const many = 20
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			program := script(`echo "$HOLDCO_RUN_ID"; sleep 100 & exit 4`)
			program.Run, program.Issue = runOf(t, fmt.Sprint(n)), id.Derive[id.Issue](fmt.Sprint(n))
			running, err := w.Start(program)
			if err != nil {
				t.Error(err)
				return
			}
			if <-running.Ended(); running.Exit().Output != string(program.Run)+"\n" || running.Exit().Code != 4 {
				t.Errorf("got %+v", running.Exit())
			}
		})
	}
	all.Wait()
}

// workspace is the path of a workspace.
func (w watched) workspace(of id.Issue) string {
	return filepath.Join(w.data, "workspaces", string(company), "issues", string(of))
}

// refuses checks that a program is not started, and leaves no log.
func (w watched) refuses(program outbound.Program, want string) {
	w.t.Helper()
	logs := func() []string {
		found, _ := filepath.Glob(filepath.Join(w.data, "workspaces", "*", "logs", "*"))
		return found
	}
	before := logs()
	if program.Run == "" {
		program.Run = runOf(w.t, "refused")
	}
	if _, err := w.Start(program); err == nil || err.Error() != want {
		w.t.Errorf("the error is\n%v, want\n%v", err, want)
	}
	if after := logs(); !slices.Equal(after, before) {
		w.t.Errorf("the logs are %v, and were %v", after, before)
	}
}

// leavesAlone checks that a directory holds one file, as it was.
func (w watched) leavesAlone(directory, file string) {
	w.t.Helper()
	entries, err := os.ReadDir(directory)
	content, failure := os.ReadFile(file)
	if err != nil || failure != nil || len(entries) != 1 || string(content) != "treasure" {
		w.t.Errorf("outside are %v, %q; %v, %v", entries, content, err, failure)
	}
}
