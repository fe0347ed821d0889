//go:build unix && !linux

package programs

import (
	"os/exec"
	"syscall"
	"time"

	"holdco/domain/id"
)

// killTimeout is how long processes that were killed may take to end.
const killTimeout = time.Minute

// awaitEnd waits until a program has ended.
func awaitEnd(command *exec.Cmd) { _ = command.Wait() }

// killLeft kills what is left of the group of a program that has ended, and waits until it is gone. As long as one of the
// group lives, no other process gets its id.
func killLeft(pid int, _ id.Run) {
	const pause = 2 * time.Millisecond
	for deadline := time.Now().Add(killTimeout); syscall.Kill(-pid, syscall.SIGKILL) == nil && time.Now().Before(deadline); {
		time.Sleep(pause)
	}
}

// killNoted kills what is left of the programs of another process, which has ended, and waits until it is gone.
func killNoted(notes map[id.Run]note) {
	boot := bootID()
	for run, n := range notes {
		if started := startOf(n.PID); n.PID > 0 && boot != "" && n.Boot == boot && started != "" && started == n.Started {
			signalProgram(n.PID, syscall.SIGKILL)
			killLeft(n.PID, run)
		}
	}
}
