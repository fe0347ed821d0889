//go:build unix

package cli

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// settle is how long the rest of what was pasted into a terminal takes to arrive.
const settle = 50 * time.Millisecond

// hasMore reports whether a line waits in a terminal, as when several were pasted at once.
func hasMore(file *os.File) bool {
	waiting := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(waiting, int(settle.Milliseconds()))
	return err == nil && n > 0 && waiting[0].Revents&unix.POLLIN != 0
}
