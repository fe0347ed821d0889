package programs_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/programs"
	"holdco/adapters/system/processtest"
	"holdco/domain/id"
	"holdco/ports/outbound"
)

// roleVariable makes this test binary one of the programs below.
const roleVariable = "HOLDCO_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		processtest.Setup()
		os.Exit(m.Run())
	}
	endWithTest()
	switch role {
	case "sleep": // until it is killed
		present()
		select {}
	case "stubborn": // also when it is to end
		signal.Ignore(syscall.SIGTERM)
		present()
		select {}
	case "patient": // ends when it is to, and says so
		end := make(chan os.Signal, 1)
		signal.Notify(end, syscall.SIGTERM)
		present()
		<-end
		fmt.Println("ended in order")
		os.Exit(7)
	case "detach": // leaves a process in a session of its own
		<-again("sleep", os.Environ())
	case "escape": // leaves one that nothing leads to, with the standard output in its hands
		<-again("sleep", []string{testVariable()})
	case "flood": // and one which fills that up
		<-again("flow", []string{testVariable()})
	case "flow":
		present()
		for {
			_, _ = os.Stdout.WriteString(strings.Repeat("flow\n", 1000))
		}
	case "hydra": // has another do its work and ends, again and again
		heads, _ := strconv.Atoi(os.Getenv("HEADS"))
		if heads == 100 {
			fmt.Println("many")
		}
		again("hydra", append(os.Environ(), "HEADS="+strconv.Itoa(heads+1)), os.NewFile(4, ""))
	case "rest": // starts one, and goes on
		again("sleep", os.Environ())
		select {}
	case "holder":
		holder()
	}
}

// endWithTest ends this program soon after the test binary, however deep below that it is.
func endWithTest() {
	_, value := processtest.Environ()
	pid, err := strconv.Atoi(value)
	if err != nil {
		panic(err)
	}
	go func() {
		for syscall.Kill(pid, 0) == nil {
			time.Sleep(50 * time.Millisecond)
		}
		os.Exit(1)
	}()
}

func testVariable() string {
	name, value := processtest.Environ()
	return name + "=" + value
}

// present writes the id of this process, and lets who started it know.
func present() {
	fmt.Println(os.Getpid())
	if os.Getenv(awaitedVariable) != "" {
		_ = os.NewFile(3, "").Close()
	}
}

// awaitedVariable is set for a process that has the end of a pipe as its third descriptor, to close.
const awaitedVariable = "HOLDCO_TEST_AWAITED"

// again starts this binary in a session of its own. It returns what is closed when that has written its id, or has ended.
// The files are its descriptors from the fourth on.
func again(role string, environment []string, files ...*os.File) <-chan struct{} {
	reader, writer, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = slices.Concat(environment, []string{roleVariable + "=" + role, awaitedVariable + "=1"})
	command.Stdout, command.Stderr, command.ExtraFiles = os.Stdout, os.Stderr, append([]*os.File{writer}, files...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		panic(err)
	}
	_ = writer.Close()
	presented := make(chan struct{})
	go func() {
		_, _ = io.ReadAll(reader)
		close(presented)
	}()
	return presented
}

// holder is another process of Holdco: it starts a program of a role and prints its name and what the program writes first.
func holder() {
	p := programs.New(programs.Options{DataDir: os.Getenv("DATA")})
	lines := 0
	program := own(os.Getenv("PROGRAM"), func(written []byte) {
		for line := range bytes.Lines(written) {
			if lines++; lines == 1 { // which is written at once
				fmt.Printf("%s %s", p.Holder(), line)
			}
		}
	})
	program.Run = id.Run(os.Getenv("RUN"))
	if _, err := p.Start(program); err != nil {
		panic(err)
	}
	_, _ = io.ReadAll(os.Stdin)
}

var (
	company  = id.New[id.Company]([16]byte{15: 1})
	theIssue = id.New[id.Issue]([16]byte{15: 2})
)

// own is a program that is this test binary in a role.
func own(role string, output func([]byte)) outbound.Program {
	name, value := processtest.Environ()
	program := command(os.Args[0])
	program.Env = map[string]string{roleVariable: role, name: value}
	program.Output = output
	return program
}

// runOf returns a run that no other test has, here or in another process: what has its id is killed.
func runOf(t testing.TB, parts ...string) id.Run {
	return id.Derive[id.Run](append(parts, t.Name(), strconv.Itoa(os.Getpid()))...)
}

// script is a program in the language of the shell. It must not wait for long.
func script(text string) outbound.Program { return command("sh", "-c", text) }

func command(command ...string) outbound.Program {
	return outbound.Program{Company: company, Issue: theIssue, Command: command, Grace: time.Hour}
}

// watched are programs that a test runs, with their data directory.
type watched struct {
	*programs.Programs
	t    *testing.T
	data string
	id   id.Run // of programs that have none
}

func newPrograms(t *testing.T) watched {
	t.Helper()
	data := t.TempDir()
	return watched{open(t, data), t, data, runOf(t)}
}

func open(t *testing.T, data string) *programs.Programs {
	t.Helper()
	p := programs.New(programs.Options{DataDir: data})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// start starts a program that ends with the test.
func (w watched) start(program outbound.Program) outbound.RunningProgram {
	w.t.Helper()
	if program.Run == "" {
		program.Run = w.id
	}
	running, err := w.Start(program)
	if err != nil {
		w.t.Fatal(err)
	}
	return running
}

// run runs a program to its end.
func (w watched) run(program outbound.Program) outbound.Exit {
	w.t.Helper()
	return exit(w.t, w.start(program))
}

func exit(t *testing.T, running outbound.RunningProgram) outbound.Exit {
	t.Helper()
	select {
	case <-running.Ended():
	case <-time.After(2 * time.Minute):
		t.Fatal("the program does not end")
	}
	return running.Exit()
}

// first starts a program and returns the number that it writes first.
func (w watched) first(program outbound.Program) (outbound.RunningProgram, int) {
	w.t.Helper()
	lines := make(chan string, 1)
	var line strings.Builder
	program.Output = func(written []byte) {
		if line.Write(written); strings.Contains(line.String(), "\n") {
			select {
			case lines <- line.String():
			default:
			}
		}
	}
	running := w.start(program)
	select {
	case text := <-lines:
		var pid int
		_, _ = fmt.Sscan(text, &pid)
		return running, pid
	case <-time.After(2 * time.Minute):
		w.t.Fatal("the program writes nothing")
	}
	return nil, 0
}

// log returns the log of the run.
func (w watched) log() string {
	w.t.Helper()
	written, _, err := w.Read(company, w.id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(written)
}

// another starts another process of Holdco on the data directory, which runs a program of a role. It returns the name of that
// process, the number that the program writes, and what kills the process.
func (w watched) another(role string) (name string, pid int, kill func()) {
	t := w.t
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), roleVariable+"=holder", "DATA="+w.data, "RUN="+string(w.id), "PROGRAM="+role)
	release, err := processtest.Guard(command, syscall.SIGKILL)
	must(t, err)
	_, err = command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	killed := false
	kill = func() {
		if !killed {
			killed = true
			_ = command.Process.Kill()
			_ = command.Wait()
			release()
		}
	}
	t.Cleanup(kill)
	if _, err := fmt.Fscan(output, &name, &pid); err != nil {
		t.Fatal(name, err)
	}
	return name, pid, kill
}

func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runs reports whether there is such a process. One that has ended may still be listed, until its parent has waited for it.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		_, missing := os.Stat("/proc/self/stat")
		return missing != nil && syscall.Kill(pid, 0) == nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
