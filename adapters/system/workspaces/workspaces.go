package workspaces

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/outbound"
)

// private is the mode of every directory made here: for the user that Holdco runs as, and nobody else.
const private = 0o700

// Directories is outbound.Workspaces on a file system. Nothing outside of its directory is ever touched, whatever ids
// or symbolic links say. Its errors are fault.NotFound for an id that is none, and fault.Unavailable.
type Directories struct {
	path   string
	making sync.Mutex // the kernel makes the entries of a directory one at a time, and those that wait for it spin
}

var _ outbound.WorkspaceMender = (*Directories)(nil)

// New returns the workspaces below a data directory. It makes nothing yet.
func New(dataDir string) *Directories {
	return &Directories{path: filepath.Join(dataDir, "workspaces")}
}

// Make makes the directory of a company unless it is there.
func (d *Directories) Make(company id.Company) error {
	return d.within(company, func(root *os.Root) error {
		d.making.Lock()
		defer d.making.Unlock()
		if err := root.Mkdir(string(company), private); !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := root.Lstat(string(company))
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: filepath.Join(d.path, string(company)), Err: errors.New("is there and no directory")}
		}
		return err
	})
}

// Remove removes the directory of a company with all that is in it, if it is there.
func (d *Directories) Remove(company id.Company) error {
	return d.within(company, func(root *os.Root) error {
		err := root.RemoveAll(string(company))
		if !errors.Is(err, fs.ErrPermission) {
			return err
		}
		// Agents may leave directories that cannot be written to, such as Go's module cache.
		if err := unlock(root, string(company)); err != nil {
			return err
		}
		return root.RemoveAll(string(company))
	})
}

// SetAside moves the directory of a company to .stray beside it, with all that is in it: under the name that it has, or with a number
// if there is one of that name.
func (d *Directories) SetAside(company id.Company) error {
	return d.within(company, func(root *os.Root) error {
		const strays, most = ".stray", 1000
		if err := root.Mkdir(strays, private); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		for n := range most {
			to := filepath.Join(strays, string(company))
			if n > 0 {
				to += fmt.Sprint(".", n)
			}
			if _, err := root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
				return root.Rename(string(company), to)
			}
		}
		return fmt.Errorf("%s has %d directories of the name %s", filepath.Join(d.path, strays), most, company)
	})
}

// List returns the companies that have a directory. It passes over everything else that lies there.
func (d *Directories) List() ([]id.Company, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unavailable(err)
	}
	var companies []id.Company
	for _, entry := range entries {
		if company, ok := id.Parse[id.Company](entry.Name()); ok && entry.IsDir() {
			companies = append(companies, company)
		}
	}
	return companies, nil
}

// Size returns how many bytes the files in the directories have. What goes away meanwhile, or cannot be read, does not count.
func (d *Directories) Size() (bytes int64) {
	_ = filepath.WalkDir(d.path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// within does something in the directory of all workspaces, which it makes first.
func (d *Directories) within(company id.Company, do func(root *os.Root) error) error {
	if _, ok := id.Parse[id.Company](string(company)); !ok {
		return access.NoCompany()
	}
	if err := os.MkdirAll(d.path, private); err != nil {
		return unavailable(err)
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return unavailable(err)
	}
	defer root.Close()
	if err := do(root); err != nil {
		return unavailable(err)
	}
	return nil
}

// unlock gives back the right to change the directories of a tree.
func unlock(root *os.Root, tree string) error {
	return fs.WalkDir(root.FS(), tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return root.Chmod(path, private)
	})
}

func unavailable(cause error) error {
	return fault.New(fault.Unavailable, "The directory of the workspaces cannot be used.").Because(cause)
}
