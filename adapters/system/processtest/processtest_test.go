package processtest_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/system/processtest"
)

// roleVariable makes this test binary one of the programs below.
const roleVariable = "HOLDCO_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "parent":
		parent("")
	case "parent of a stubborn program":
		parent(`trap "" QUIT; `)
	case "child":
		processtest.EndWithParent()
		select {}
	}
}

// parent is a test binary that starts processes, prints their ids and a folder, and panics when its input ends.
func parent(trap string) {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	processtest.Setup()
	own := exec.Command(os.Args[0])
	own.Env = append(os.Environ(), roleVariable+"=child")
	check(own.Start())

	foreign := exec.Command("sh", "-c", trap+"sleep 1000 & echo $!; exec sleep 1000")
	grandchild, err := foreign.StdoutPipe()
	check(err)
	_, err = processtest.Guard(foreign, syscall.SIGQUIT)
	check(err)
	check(foreign.Start())
	line, err := bufio.NewReader(grandchild).ReadString('\n')
	check(err)
	fmt.Print(line)

	ended := exec.Command("true")
	release, err := processtest.Guard(ended, syscall.SIGKILL)
	check(err)
	check(ended.Run())
	release()

	folder, err := os.MkdirTemp("", "") // of the temporary files
	check(err)
	check(os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	fmt.Println(own.Process.Pid)
	fmt.Println(foreign.Process.Pid)
	fmt.Println(folder)
	_, _ = io.ReadAll(os.Stdin)
	panic("the tests end early")
}

func TestNoProcessOutlivesItsParent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role string
		end  func(parent *exec.Cmd, input io.Closer) error
	}{
		"that panics":    {"parent", func(_ *exec.Cmd, input io.Closer) error { return input.Close() }},
		"that is killed": {"parent of a stubborn program", killed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outlive(t, exec.Command(os.Args[0]), c.role, c.end)
		})
	}
}

func killed(parent *exec.Cmd, _ io.Closer) error { return parent.Process.Kill() }

// A killed go command leaves the test binary to end by itself.
func TestNoProcessOutlivesTheGoCommand(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	must(t, err)
	program, err := os.ReadFile(shell)
	must(t, err)
	named := filepath.Join(t.TempDir(), "go")
	syscall.ForkLock.RLock() // a child that another test forks now would have the file open for writing, so that nothing could run it
	err = os.WriteFile(named, program, 0o700)
	syscall.ForkLock.RUnlock()
	must(t, err)
	command := exec.Command(named, "-c", `"$0"; true`, os.Args[0])
	outlive(t, command, "parent", killed)
}

// outlive starts a parent, ends it, and waits until its processes and its folder are gone.
func outlive(t *testing.T, command *exec.Cmd, role string, end func(parent *exec.Cmd, input io.Closer) error) {
	t.Helper()
	command.Env = append(os.Environ(), roleVariable+"="+role)
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	var pids []int
	var folder string
	for lines := bufio.NewScanner(output); folder == "" && lines.Scan(); {
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &pid); err == nil {
			pids = append(pids, pid)
		} else {
			folder = strings.TrimSpace(lines.Text())
		}
	}
	if len(pids) != 3 || !exists(folder) {
		t.Fatalf("processes %d, folder %q", pids, folder)
	}
	for _, pid := range pids {
		if !runs(pid) {
			t.Errorf("process %d does not run", pid)
		}
	}
	must(t, end(command, input))
	_ = command.Wait()
	for _, pid := range pids {
		await(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !runs(pid) })
	}
	await(t, "the removal of the folder", func() bool { return !exists(filepath.Dir(folder)) })
}

// runs reports whether there is such a process. One that has ended may still be listed, until init has waited for it.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
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
