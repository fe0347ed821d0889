package programs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"holdco/domain/id"
	"holdco/ports/outbound"
)

// Options configure Programs.
type Options struct {
	DataDir string // shared by all processes that use one store on one host
}

// Programs is outbound.Programs and outbound.RunLogs.
type Programs struct {
	dataDir string
	holder  *holder
}

var (
	_ outbound.Programs = (*Programs)(nil)
	_ outbound.RunLogs  = (*Programs)(nil)
)

// New returns programs below a data directory. It makes nothing yet.
func New(options Options) *Programs {
	return &Programs{
		dataDir: options.DataDir,
		holder:  &holder{all: filepath.Join(options.DataDir, "holders"), name: strings.ToLower(rand.Text())},
	}
}

// Close forgets this process as a holder. The programs must have ended: what still runs, another process takes for left
// behind. No program can be started after it.
func (p *Programs) Close() error { return p.holder.close() }

// Start implements outbound.Programs.
func (p *Programs) Start(program outbound.Program) (outbound.RunningProgram, error) {
	if err := check(program); err != nil {
		return nil, err
	}
	place, err := p.prepare(program)
	if err != nil {
		return nil, err
	}
	environment := environment(program, place)
	path, err := lookUp(program.Command[0], environment["PATH"], place.directory)
	if err != nil {
		return nil, err
	}
	return p.launch(launch{program, place, path, environment})
}

// launch is a program that is ready to be started.
type launch struct {
	program     outbound.Program
	place       workspace
	path        string // of the program
	environment map[string]string
}

func check(program outbound.Program) error {
	_, company := id.Parse[id.Company](string(program.Company))
	_, issue := id.Parse[id.Issue](string(program.Issue))
	_, run := id.Parse[id.Run](string(program.Run))
	if !company || !issue || !run { // they become names of files
		return refuse(nil, "A program needs the ids of a company, an issue and a run, not %q, %q and %q",
			program.Company, program.Issue, program.Run)
	}
	if len(program.Command) == 0 || program.Command[0] == "" {
		return refuse(nil, "There is no command to run")
	}
	for name, value := range program.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return refuse(nil, "The environment variable %q has a name or a value that no program can get", name)
		}
	}
	return nil
}

// refusal is an error that is a sentence for people.
type refusal struct {
	sentence string
	cause    error
}

func (r *refusal) Error() string { return r.sentence }

func (r *refusal) Unwrap() error { return r.cause }

// refuse formats a sentence without its full stop, and adds the cause, unless that is nil.
func refuse(cause error, format string, args ...any) error {
	sentence := fmt.Sprintf(format, args...)
	if cause != nil {
		sentence += ": " + reason(cause)
	}
	return &refusal{sentence + ".", cause}
}

// reason is what the system says of an error, without the operation and the path.
func reason(err error) string {
	for {
		var path *fs.PathError
		if !errors.As(err, &path) {
			return err.Error()
		}
		err = path.Err
	}
}
