// Package processtest keeps the processes that tests start from outliving the tests.
//
// A test binary that panics, runs into its timeout or is killed runs no cleanup. So each has a guard, a process beside it
// that reads from a pipe. When the test binary has ended, however it did, the guard reads the end of the file, ends what
// still runs, and removes the files.
package processtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Guard changes a command that was not started yet, so that its process group gets a signal when this process has ended.
// The command must not need a process group of its own choice. After the command was waited for, release must be called.
func Guard(command *exec.Cmd, last syscall.Signal) (release func(), err error) {
	g, err := shared()
	if err != nil {
		return nil, err
	}
	command.ExtraFiles = append(command.ExtraFiles, g.pipe)
	pipe := strconv.Itoa(2 + len(command.ExtraFiles))
	args := []string{"sh", "-c", register, "sh", pipe, strconv.Itoa(int(last)), command.Path}
	command.Path, command.Args = "/bin/sh", append(args, command.Args[1:]...)
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setpgid = true // also keeps the signals of the terminal away
	return func() {
		if command.Process != nil {
			_, _ = g.pipe.WriteString("ended " + strconv.Itoa(command.Process.Pid) + "\n") // fails only if the guard was killed
		}
	}, nil
}

// TempDir returns a new folder that is removed when this process has ended. Users other than the owner may enter it.
func TempDir() (string, error) {
	g, err := shared()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(g.folder, "")
}

// guard is the process that watches over this one.
type guard struct {
	pipe   *os.File // what is written here, the guard reads
	folder string   // removed by the guard
}

var shared = sync.OnceValues(startGuard)

func startGuard() (*guard, error) {
	endWithGo()
	folder, err := os.MkdirTemp("", "holdco-test-")
	if err != nil {
		return nil, err
	}
	const enter = 0o711
	if err := os.Chmod(folder, enter); err != nil {
		return nil, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	command := exec.Command("/bin/sh", "-c", guarding, "sh", folder)
	command.Dir = filepath.Dir(folder)
	command.Stdin = reader
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &guard{writer, folder}, nil
}

// register reports this process to the guard before it becomes the program, so that no program runs unguarded.
const register = `echo "started $$ $2" >&"$1" || exit
eval "exec $1>&-"
shift 2
exec "$@"`

// guarding is the program of the guard. PostgreSQL and others need a moment to end in order; after 5 seconds they are killed.
const guarding = `trap "" HUP INT QUIT TERM
running=
while read -r what group signal; do
	others=
	for one in $running; do
		[ "${one%:*}" = "$group" ] || others="$others $one"
	done
	running=$others
	[ "$what" = ended ] || running="$running $group:$signal"
done

for one in $running; do
	kill -"${one#*:}" -"${one%:*}"
done 2>/dev/null
tries=50
while [ "$running" ] && [ $((tries -= 1)) -ge 0 ]; do
	remaining=
	for one in $running; do
		! kill -0 -"${one%:*}" 2>/dev/null || remaining="$remaining $one"
	done
	running=$remaining
	[ -z "$running" ] || sleep 0.1
done
for one in $running; do
	kill -9 -"${one%:*}"
done 2>/dev/null
exec rm -rf "$1"`
