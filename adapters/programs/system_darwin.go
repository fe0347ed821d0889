package programs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startOf returns when a process started, in a form to compare; "" if there is no such process.
func startOf(pid int) string {
	process, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(process.Proc.P_pid) != pid {
		return ""
	}
	return fmt.Sprintf("%d.%06d", process.Proc.P_starttime.Sec, process.Proc.P_starttime.Usec)
}

// bootID names the time since the system was started; "" if it is not known.
func bootID() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot
}
