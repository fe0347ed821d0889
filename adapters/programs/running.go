//go:build unix

package programs

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"holdco/ports/outbound"
)

// running is outbound.RunningProgram.
type running struct {
	programs *Programs
	program  outbound.Program
	place    workspace
	command  *exec.Cmd
	log      *runLog
	output   lastOutput // of its standard output
	errors   lastOutput // of its standard error
	pipes    []*os.File // the ends of this process
	copies   sync.WaitGroup

	mu      sync.Mutex
	stopped *time.Timer // kills; nil: nobody has called Stop
	over    bool        // the program has ended, and its id may become another's

	ended chan struct{}
	exit  outbound.Exit
}

// launch starts a program.
func (p *Programs) launch(l launch) (outbound.RunningProgram, error) {
	log, err := p.openLog(l.program)
	if err != nil {
		return nil, refuse(err, "The log of the run cannot be written")
	}
	r := &running{
		programs: p, program: l.program, place: l.place, log: log, ended: make(chan struct{}),
		output: lastOutput{max: outbound.MostOutput}, errors: lastOutput{max: outbound.MaxErrors},
		command: &exec.Cmd{
			Path: l.path, Args: l.program.Command, Dir: l.place.directory, Env: pairs(l.environment),
			SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		},
	}
	if err := p.holder.note(l.program.Run, note{Boot: bootID()}); err != nil {
		r.abandon()
		return nil, refuse(err, "The program cannot be noted in the data directory")
	}
	if err := r.start(); err != nil {
		r.abandon()
		p.holder.forget(l.program.Run)
		return nil, refuse(err, "The program %q cannot be started", l.program.Command[0])
	}
	// If this fails, the run is still noted, by which its processes are found on Linux.
	_ = p.holder.note(l.program.Run, note{bootID(), r.command.Process.Pid, startOf(r.command.Process.Pid)})
	go r.attend()
	return r, nil
}

func (p *Programs) openLog(program outbound.Program) (*runLog, error) {
	company, err := p.openCompany(program.Company)
	if err != nil {
		return nil, err
	}
	defer company.Close()
	folder, err := makeOwn(company, logFolder)
	if err != nil {
		return nil, err
	}
	log, err := newLog(folder, program.Run)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return log, nil
}

// abandon removes the log of a program that was not started.
func (r *running) abandon() {
	_ = r.log.folder.Remove(headName(r.program.Run))
	r.log.finish()
}

// start starts the program and what moves its input and output. The pipes are ours and not those of os/exec, which would
// wait for the processes that the program leaves behind before anybody could kill them.
func (r *running) start() error {
	theirs, err := r.connect()
	if err == nil {
		err = r.command.Start()
	}
	for _, file := range theirs {
		_ = file.Close()
	}
	if err != nil {
		for _, file := range r.pipes {
			_ = file.Close()
		}
	}
	return err
}

// connect makes the pipes, and returns the ends of the program.
func (r *running) connect() (theirs []*os.File, err error) {
	pipe := func() (reader, writer *os.File) {
		if err == nil {
			reader, writer, err = os.Pipe()
		}
		return reader, writer
	}
	if len(r.program.Stdin) > 0 {
		input, ours := pipe()
		if err != nil {
			return nil, err
		}
		theirs, r.pipes, r.command.Stdin = append(theirs, input), append(r.pipes, ours), input
	}
	for _, stream := range []*io.Writer{&r.command.Stdout, &r.command.Stderr} {
		ours, output := pipe()
		if err != nil {
			break
		}
		theirs, r.pipes, *stream = append(theirs, output), append(r.pipes, ours), output
	}
	return theirs, err
}

// attend moves the input and output of the program until it has ended, and kills what it leaves behind.
func (r *running) attend() {
	shown := [2]*hider{
		newHider(io.MultiWriter(r.log, &r.output), r.program.Hidden), newHider(io.MultiWriter(r.log, &r.errors), r.program.Hidden),
	}
	output := len(r.pipes) - len(shown) // the first of them
	if output > 0 {
		r.copies.Go(func() {
			_, _ = r.pipes[0].Write(r.program.Stdin) // a program need not read it
			_ = r.pipes[0].Close()
		})
	}
	r.copies.Go(func() {
		receive(r.pipes[output], func(written []byte) {
			_, _ = shown[0].Write(written)
			if r.program.Output != nil {
				r.program.Output(written)
			}
		})
	})
	r.copies.Go(func() {
		receive(r.pipes[output+1], func(written []byte) { _, _ = shown[1].Write(written) })
	})

	awaitEnd(r.command)
	r.mu.Lock()
	r.over = true
	if r.stopped != nil {
		r.stopped.Stop()
	}
	r.mu.Unlock()
	killLeft(r.command.Process.Pid, r.program.Run)
	_ = r.command.Wait() // what it returns is in ProcessState

	for _, pipe := range r.pipes {
		_ = pipe.SetDeadline(time.Now()) // a process that escaped may still have the other end
	}
	r.copies.Wait()
	for _, one := range shown {
		one.flush()
	}
	r.log.finish()
	r.exit.Output, r.exit.Errors = r.output.text(), r.errors.text()
	r.programs.readResult(&r.exit, r.program.Company, r.place)
	r.exit.Result = r.program.Hidden.JSON(r.exit.Result)
	if status, ok := r.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.exit.Signal = int(status.Signal())
	} else {
		r.exit.Code = r.command.ProcessState.ExitCode()
	}
	r.programs.holder.forget(r.program.Run)
	close(r.ended)
}

// receive passes on what comes out of a pipe until its end, or until its deadline and then what is in it.
func receive(pipe *os.File, pass func(written []byte)) {
	defer pipe.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := pipe.Read(buffer)
		if n > 0 {
			pass(buffer[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			empty(pipe, buffer, pass)
		}
		if err != nil {
			return
		}
	}
}

// empty passes on what is in a pipe. If somebody keeps writing, it ends after more than a pipe usually holds.
func empty(pipe *os.File, buffer []byte, pass func(written []byte)) {
	const most = 16 << 20
	conn, err := pipe.SyscallConn()
	if err == nil {
		err = pipe.SetDeadline(time.Time{})
	}
	for total := 0; err == nil && total < most; {
		n := 0
		failure := conn.Read(func(descriptor uintptr) bool {
			for {
				if n, err = syscall.Read(int(descriptor), buffer); !errors.Is(err, syscall.EINTR) {
					return true // without waiting: the pipe does not block
				}
			}
		})
		if failure != nil || n <= 0 {
			return
		}
		pass(buffer[:n])
		total += n
	}
}

// Ended implements outbound.RunningProgram.
func (r *running) Ended() <-chan struct{} { return r.ended }

// Exit implements outbound.RunningProgram.
func (r *running) Exit() outbound.Exit {
	<-r.ended
	return r.exit
}

// Stop implements outbound.RunningProgram.
func (r *running) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.stopped != nil {
		return
	}
	signalProgram(r.command.Process.Pid, syscall.SIGTERM)
	r.stopped = time.AfterFunc(r.program.Grace, r.Kill)
}

// Kill implements outbound.RunningProgram.
func (r *running) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		signalProgram(r.command.Process.Pid, syscall.SIGKILL)
	}
}

// killedWhole has a command in a group of its own, which is killed when its context ends.
func killedWhole(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error {
		signalProgram(command.Process.Pid, syscall.SIGKILL)
		return nil
	}
}

// signalProgram sends a signal to the process group of a program, and to the program, which may have left it.
func signalProgram(pid int, signal syscall.Signal) {
	if syscall.Kill(-pid, signal) != nil || signal == syscall.SIGKILL {
		_ = syscall.Kill(pid, signal)
	}
}
