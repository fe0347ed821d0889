package programs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"holdco/domain/id"
)

// processTree lists the processes of this system.
const processTree = "/proc"

// killTimeout is how long processes that were killed may take to end. Longer do only those that the kernel cannot interrupt.
const killTimeout = time.Minute

// awaitEnd waits until a program has ended, and leaves it as a zombie until its Wait. So its id stays its own while its
// group is killed.
func awaitEnd(command *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killLeft kills what is left of a program that has ended and was not waited for, and waits until it is gone.
func killLeft(pid int, run id.Run) {
	signalProgram(pid, syscall.SIGKILL)
	remains{left: func(process string) bool {
		return ofRun(process, run) || ofGroup(process, pid)
	}, killed: map[string]string{}}.killUntilGone()
}

// killNoted kills what is left of the programs of another process, which has ended, and waits until it is gone.
func killNoted(notes map[id.Run]note) {
	if len(notes) == 0 {
		return
	}
	boot, killed := bootID(), map[string]string{}
	for _, n := range notes {
		if started := startOf(n.PID); n.PID > 0 && boot != "" && n.Boot == boot && started != "" && started == n.Started {
			signalProgram(n.PID, syscall.SIGKILL)
			killed[strconv.Itoa(n.PID)] = started
		}
	}
	remains{left: func(process string) bool {
		for run := range notes {
			if ofRun(process, run) {
				return true
			}
		}
		return false
	}, killed: killed}.killUntilGone()
}

// remains are what is left of programs.
type remains struct {
	left   func(process string) bool
	killed map[string]string // processes with their starts; on its way to its end a process has no environment any more
}

func (r remains) has(process string) bool {
	if started, killed := r.killed[process]; killed {
		if fields := statOf(process); !dead(fields) && fields[statStart] == started {
			return true
		}
	}
	return r.left(process)
}

// killUntilGone kills the processes that are left, until there are none. One that becomes another program just then has no
// environment either, so it takes two looks at all processes.
func (r remains) killUntilGone() {
	const looks, pause = 2, 2 * time.Millisecond
	deadline := time.Now().Add(killTimeout)
	for none := 0; none < looks && time.Now().Before(deadline); {
		if none++; r.look() {
			none = 0
		}
		if none < looks {
			time.Sleep(pause)
		}
	}
}

// look looks at all processes, kills those that are left, and reports whether there were any. As long as there are new ones
// it looks at these too: a process that starts another and ends, which does the same, would else always be one ahead.
func (r remains) look() (found bool) {
	const most = 1000 // on a system where others never stop starting processes
	seen := map[string]bool{}
	for range most {
		before := len(seen)
		for _, process := range processes() {
			if seen[process] {
				continue
			}
			seen[process] = true
			if r.has(process) {
				found = true
				r.kill(process)
			}
		}
		if len(seen) == before {
			break
		}
	}
	return found
}

// processes returns the ids of all processes but this one.
func processes() []string {
	tree, err := os.Open(processTree)
	if err != nil {
		return nil
	}
	defer tree.Close()
	names, _ := tree.Readdirnames(-1)
	own := strconv.Itoa(os.Getpid())
	return slices.DeleteFunc(names, func(name string) bool { return name == own || strings.Trim(name, "0123456789") != "" })
}

// kill kills a process if it is still one that is left, and not another that got its id.
func (r remains) kill(name string) {
	pid, err := strconv.Atoi(name)
	if err != nil {
		return
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	if started := startOf(pid); r.has(name) {
		_ = process.Kill() // by a descriptor, which stands for the process that was there before the look
		r.killed[name] = started
	}
	_ = process.Release()
}

// ofRun reports whether a process has the id of a run in the environment that it was started with. That of a zombie is empty.
func ofRun(process string, run id.Run) bool {
	environment, err := os.ReadFile(filepath.Join(processTree, process, "environ"))
	if err != nil {
		return false // it has ended, or is another user's
	}
	wanted := []byte(runVariable + "=" + string(run))
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.Equal(variable, wanted) {
			return true
		}
	}
	return false
}

func ofGroup(process string, group int) bool {
	fields := statOf(process)
	return !dead(fields) && fields[statGroup] == strconv.Itoa(group)
}

// The fields of a process that statOf returns, see proc_pid_stat(5).
const (
	statState = 0
	statGroup = 2
	statStart = 19 // in clock ticks after the boot
	statCount = 20
)

// statOf returns the fields of a process after its name, nil if there is no such process.
func statOf(process string) []string {
	stat, err := os.ReadFile(filepath.Join(processTree, process, "stat"))
	if err != nil {
		return nil
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name may have brackets and blanks
	if len(fields) < statCount {
		return nil
	}
	texts := make([]string, len(fields))
	for i, field := range fields {
		texts[i] = string(field)
	}
	return texts
}

// dead reports whether a process is gone, or a zombie, which only waits for its parent.
func dead(fields []string) bool {
	return fields == nil || fields[statState] == "Z" || fields[statState] == "X"
}

// startOf returns when a process started, in a form to compare; "" if there is no such process.
func startOf(pid int) string {
	if fields := statOf(strconv.Itoa(pid)); fields != nil {
		return fields[statStart]
	}
	return ""
}

// bootID names the time since the system was started; "" if it is not known.
func bootID() string {
	content, err := os.ReadFile(filepath.Join(processTree, "sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(content))
}
