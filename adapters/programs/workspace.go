package programs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/outbound"
)

const (
	// private and privateFile are the modes of all that is made here: for the user that Holdco runs as, and nobody else.
	private     = 0o700
	privateFile = 0o600

	// ownFolder is the folder of Holdco in a workspace, with these files.
	ownFolder   = ".holdco"
	contextFile = "context.json"
	mcpFile     = "mcp.json"
	resultFile  = "result.json"

	logFolder = "logs"
)

// instructionFiles are what coding agents read by themselves in the folder that they work in.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md"}

// workspace is where a program runs.
type workspace struct {
	path      string // of the workspace, absolute
	inside    string // the same in the directory of the company, without links
	directory string // in which the program is started, absolute and without links
}

// prepare makes the workspace of a program and the files in it.
func (p *Programs) prepare(program outbound.Program) (workspace, error) {
	path, err := filepath.Abs(p.companyPath(program.Company))
	if err != nil {
		return workspace{}, refuse(err, "The data directory cannot be used")
	}
	company, err := p.makeCompany(program.Company)
	if err != nil {
		return workspace{}, refuse(err, "The directory of the company cannot be used")
	}
	defer company.Close()

	name := filepath.Join("issues", string(program.Issue))
	_, found := company.Lstat(name)
	inside, err := makeIn(company, path, name)
	if err == nil && errors.Is(found, fs.ErrNotExist) {
		err = instruct(company, inside, program.Instructions)
	}
	if err != nil {
		return workspace{}, unusable(err, "The workspace of the issue cannot be used")
	}
	place := workspace{path: filepath.Join(path, name), inside: inside}
	own, err := makeOwn(company, filepath.Join(inside, ownFolder))
	if err == nil {
		err = errors.Join(replace(own, contextFile, program.Context), replace(own, mcpFile, program.MCP),
			own.RemoveAll(resultFile), own.Close())
	}
	if err != nil {
		return workspace{}, unusable(err, "The folder %s of the workspace cannot be written", ownFolder)
	}

	folder := filepath.FromSlash(program.Directory)
	if folder != "" && !filepath.IsLocal(folder) {
		return workspace{}, unusable(nil, "The directory %q leads out of the workspace", program.Directory)
	}
	if inside, err = makeIn(company, path, filepath.Join(name, folder)); err == nil {
		place.directory, err = filepath.EvalSymlinks(filepath.Join(path, inside))
	}
	if err != nil {
		return workspace{}, unusable(err, "The directory %q cannot be used", program.Directory)
	}
	return place, nil
}

// instruct writes the instructions, if there are any, into a workspace that is new. What has the name of such a file stays.
func instruct(company *os.Root, inside string, instructions []byte) error {
	if len(instructions) == 0 {
		return nil
	}
	for _, name := range instructionFiles {
		file, err := create(company, filepath.Join(inside, name))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = file.Write(instructions)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// unusable is a refusal because of what is in a workspace.
func unusable(cause error, format string, args ...any) error {
	return outbound.WorkspaceError{Cause: refuse(cause, format, args...)}
}

// readResult reads what a program left as its result.
func (p *Programs) readResult(exit *outbound.Exit, company id.Company, place workspace) {
	file, size, err := p.openResult(company, place)
	if err == nil {
		defer file.Close()
		if exit.ResultIsTooLarge = size > issue.ResultSize; exit.ResultIsTooLarge {
			return
		}
		exit.Result, err = io.ReadAll(io.LimitReader(file, issue.ResultSize+1))
	}
	_, isAnother := errors.AsType[notOurs](err)
	switch {
	case isAnother:
		exit.ResultProblem = "The result file is a link, a directory or another thing that is not a regular file."
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		exit.Result, exit.ResultProblem = nil, "The result file cannot be read: "+reason(err)+"."
	case len(exit.Result) > issue.ResultSize: // it has grown meanwhile
		exit.Result, exit.ResultIsTooLarge = nil, true
	}
}

func (p *Programs) openResult(company id.Company, place workspace) (*os.File, int64, error) {
	root, err := p.openCompany(company)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	own, err := openOwn(root, filepath.Join(place.inside, ownFolder))
	if err != nil {
		return nil, 0, err
	}
	defer own.Close()
	return openRegular(own, resultFile)
}

// errLeadsOut is of links. One to the workspace of another issue is none of these.
var errLeadsOut = errors.New("it leads out of the directory of the company")

func (p *Programs) companyPath(company id.Company) string {
	return filepath.Join(p.dataDir, "workspaces", string(company))
}

func (p *Programs) makeCompany(company id.Company) (*os.Root, error) {
	path := p.companyPath(company)
	if err := os.MkdirAll(filepath.Dir(path), private); err != nil {
		return nil, err
	}
	if err := os.Mkdir(path, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return p.openCompany(company)
}

func (p *Programs) openCompany(company id.Company) (*os.Root, error) {
	all, err := os.OpenRoot(filepath.Dir(p.companyPath(company)))
	if err != nil {
		return nil, err
	}
	defer all.Close()
	return openOwn(all, string(company))
}

// makeIn makes a directory in a root, whose path is given, unless it is there, and returns its path in the root without links.
// os.Root alone would refuse links with absolute paths to places in the root, which programs are free to make.
func makeIn(root *os.Root, path, name string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	there, missing := filepath.Join(path, name), ""
	for {
		found, err := filepath.EvalSymlinks(there)
		if err == nil {
			there = found
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || there == path {
			return "", err
		}
		missing = filepath.Join(filepath.Base(there), missing)
		there = filepath.Dir(there)
	}
	inside, err := filepath.Rel(path, filepath.Join(there, missing))
	if err != nil || !filepath.IsLocal(inside) {
		return "", errLeadsOut
	}
	return inside, root.MkdirAll(inside, private)
}

// makeOwn makes and opens a directory of Holdco. A link that a former program left in its place is removed, as is any other
// thing but a directory.
func makeOwn(root *os.Root, name string) (*os.Root, error) {
	if info, err := root.Lstat(name); err == nil && !info.IsDir() {
		if err := root.Remove(name); err != nil {
			return nil, err
		}
	}
	if err := root.Mkdir(name, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openOwn(root, name)
}

// notOurs is an error about a file or a directory of Holdco in whose place something else lies: to it, that is not there.
type notOurs struct{}

func (notOurs) Error() string { return "something else lies in its place" }

func (notOurs) Is(target error) bool { return target == fs.ErrNotExist }

// openOwn opens a directory of Holdco, notOurs if it is a link, or no directory.
func openOwn(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: notOurs{}}
	}
	if err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

// openRegular opens a file and returns its size, notOurs if it is no regular file.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: notOurs{}}
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// replace writes a new file in place of whatever has its name, so that no link is followed.
func replace(root *os.Root, name string, content []byte) error {
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	file, err := create(root, name)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// create makes a file, which must not be there.
func create(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
}
