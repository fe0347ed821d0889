package outbound

import (
	"time"

	"holdco/domain/id"
	"holdco/domain/redact"
)

// Programs runs programs on this host, each for one run of an agent, in the workspace of its issue. It is safe for concurrent use.
//
// A process that uses it is a holder: it has a name of its own, under which it notes what it starts. When it is killed, its
// programs may live on; Ended finds them.
type Programs interface {
	// Start starts a program, of which a run has one at most. It fails when the program cannot be started, with an error that says
	// why in a sentence: there is no such program, or its directory leads out of the workspace.
	Start(program Program) (RunningProgram, error)

	// Holder is the name of this process, which no other has, on this host or another.
	Holder() string

	// Ended returns the names of processes on this host that have ended and left something behind, until they are forgotten. Their
	// programs are dead when it returns. It may return some names and an error.
	Ended() ([]string, error)

	// Forget forgets a process that has ended. Forgotten before its end, this process leaves nothing behind then, unless a program
	// still runs.
	Forget(holder string) error
}

// Program is what is started for a run. It has the environment that the server lets programs have (PATH, HOME, LANG, TZ and
// TMPDIR), Env, and the paths of its workspace and of the files in it: HOLDCO_WORKSPACE, HOLDCO_CONTEXT_FILE, HOLDCO_MCP_FILE,
// HOLDCO_RESULT_FILE, and HOLDCO_RUN_ID. It is the first process of a process group of its own.
type Program struct {
	Company   id.Company
	Issue     id.Issue
	Run       id.Run
	Command   []string // the program, looked up in PATH, and its arguments
	Directory string   // in which it runs: a path in the workspace, with slashes; empty: the workspace itself
	Env       map[string]string
	Stdin     []byte
	Context   []byte // the content of HOLDCO_CONTEXT_FILE, which is .holdco/context.json in the workspace
	MCP       []byte // of HOLDCO_MCP_FILE, .holdco/mcp.json
	Grace     time.Duration

	// Instructions are the content of AGENTS.md and CLAUDE.md in a workspace that is new, unless files of these names are there. Empty:
	// there are none.
	Instructions []byte

	Hidden redact.Hidden // in the log, and in Exit

	// Output is called with what it writes to its standard output, one piece after the other, the last before Ended. It must not
	// keep the piece, and the program waits while it takes long. nil: nobody asks.
	Output func(written []byte)
}

// RunningProgram is a program that was started.
type RunningProgram interface {
	// Ended is closed when the program has ended and nothing is left of it: no process of its group, and on Linux none that has
	// its HOLDCO_RUN_ID. What it left running is killed when it ends.
	Ended() <-chan struct{}

	// Stop ends the program and its group: SIGTERM, and SIGKILL after its grace. It does not wait. It may be called more than
	// once, and after the end.
	Stop()

	// Kill ends the program and its group at once: SIGKILL. Otherwise it is as Stop.
	Kill()

	// Exit is how the program ended, after Ended.
	Exit() Exit
}

// WorkspaceError is the failure of Programs.Start because of what is in the workspace of the issue. It is of the issue, not of the
// program.
type WorkspaceError struct{ Cause error }

// Error says why.
func (w WorkspaceError) Error() string { return w.Cause.Error() }

// Unwrap returns the cause.
func (w WorkspaceError) Unwrap() error { return w.Cause }

// Exit is how a program ended.
type Exit struct {
	Code   int    // its exit code, if Signal is 0
	Signal int    // the number of the signal that ended it; 0: none
	Output string // the last MostOutput bytes of its standard output, as valid UTF-8
	Errors string // the last MaxErrors bytes of its standard error, as valid UTF-8
	Result []byte // the content of HOLDCO_RESULT_FILE, .holdco/result.json in the workspace; nil: there is none, or it cannot be read

	// ResultIsTooLarge reports whether HOLDCO_RESULT_FILE has more than issue.ResultSize bytes.
	ResultIsTooLarge bool

	// ResultProblem says in a sentence why HOLDCO_RESULT_FILE cannot be read: it is a link, a directory or a pipe, say. Empty: it can
	// be, or there is none.
	ResultProblem string
}

// Bounds of Exit, in bytes.
const (
	MostOutput = 64 << 10
	MaxErrors  = 8 << 10
)

// RunLogs reads what programs wrote to their standard output and error.
type RunLogs interface {
	// Read returns what was written from a position on, and the position after it; 0 is the beginning. Of a long log the middle is
	// missing: a line says so in its place. It fails with fault.NotFound when this host has no log of the run.
	Read(company id.Company, run id.Run, from int64) (written []byte, next int64, err error)
}

// OldRunLogs removes logs of runs from this host.
type OldRunLogs interface {
	// WrittenBefore returns the logs that were not written to since an instant.
	WrittenBefore(before time.Time) ([]OldRunLog, error)

	// Remove removes a log, if it is there.
	Remove(company id.Company, run id.Run) error
}

// OldRunLog is a log of a run on this host.
type OldRunLog struct {
	Company id.Company
	Run     id.Run
	Bytes   int64
}
