package workspaces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"holdco/adapters/system/partial"
	"holdco/domain/backup"
	"holdco/ports/outbound"
)

// Copies implements outbound.WorkspaceCopies for all that is below a data directory's workspaces.
type Copies struct{ root string }

var _ outbound.WorkspaceCopies = Copies{}

// NewCopies returns the copies of the workspaces below a data directory.
func NewCopies(dataDir string) Copies { return Copies{root: filepath.Join(dataDir, "workspaces")} }

// Copy implements outbound.WorkspaceCopies. It opens nothing outside: a link that takes the place of a folder meanwhile is not followed.
func (c Copies) Copy(add func(entry backup.Entry, content func(to io.Writer) error) error) error {
	root, err := os.OpenRoot(c.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, found fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), name == ".":
			return nil // it is gone, or the folder of all
		case err != nil:
			return err
		case found.IsDir():
			return add(backup.Entry{Name: name, Kind: backup.Folder}, nil)
		case found.Type() == fs.ModeSymlink:
			target, err := root.Readlink(name)
			if err != nil {
				return unlessGone(err)
			}
			return add(backup.Entry{Name: name, Kind: backup.Link, Target: target}, nil)
		case found.Type().IsRegular():
			return copyFile(root, name, add)
		}
		return nil // a socket, say
	})
}

func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func copyFile(root *os.Root, name string, add func(entry backup.Entry, content func(to io.Writer) error) error) error {
	file, err := root.Open(name)
	if err != nil {
		return unlessGone(err)
	}
	defer file.Close()
	found, err := file.Stat()
	if err != nil || !found.Mode().IsRegular() {
		return err
	}
	entry := backup.Entry{Name: name, Kind: backup.File, Bytes: found.Size(), IsExecutable: found.Mode()&0o100 != 0}
	return add(entry, func(to io.Writer) error {
		// A file that changes meanwhile keeps the size that was announced: it is cut off, or filled up with zeros.
		copied, err := io.Copy(to, io.LimitReader(file, entry.Bytes))
		if err == nil && copied < entry.Bytes {
			_, err = io.CopyN(to, zeros{}, entry.Bytes-copied)
		}
		return err
	})
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

// restoration is a folder in which workspaces are restored.
type restoration struct {
	in     string // where they are to be
	folder *partial.Folder
	root   *os.Root
}

const restored = "workspaces" // in the folder

// Restore implements outbound.WorkspaceCopies.
func (c Copies) Restore(replaces bool) (outbound.WorkspaceRestoration, error) {
	in, err := filepath.Abs(c.root)
	if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(in)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(found) > 0 && !replaces {
		return nil, fmt.Errorf("%s holds workspaces; restore into an empty data directory, or say --replace", in)
	}
	if err := os.MkdirAll(filepath.Dir(in), 0o700); err != nil {
		return nil, err
	}
	r := &restoration{in: in}
	if r.folder, err = partial.CreateFolder(in); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(r.folder.Path, restored), 0o700); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.root, err = os.OpenRoot(filepath.Join(r.folder.Path, restored)); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *restoration) Free() (bytes int64, isKnown bool, err error) {
	return partial.Free(r.folder.Path)
}

// Take implements outbound.WorkspaceRestoration. The root refuses whatever would lead out of it, through links too.
func (r *restoration) Take(entry backup.Entry, content io.Reader) error {
	if err := r.take(entry, content); err != nil {
		if r.isBelowLink(entry.Name) {
			return backup.Broken("its entry %q is below a link", backup.Workspaces+entry.Name)
		}
		return fmt.Errorf("the workspace %s cannot be restored: %w", entry.Name, err)
	}
	return nil
}

// isBelowLink reports whether what is to be restored would lie where a link leads.
func (r *restoration) isBelowLink(name string) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if found, err := r.root.Lstat(at); err == nil && found.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

func (r *restoration) take(entry backup.Entry, content io.Reader) error {
	const forOwner, executable = 0o600, 0o700
	if err := r.root.MkdirAll(path.Dir(entry.Name), executable); err != nil {
		return err
	}
	switch entry.Kind {
	case backup.Folder:
		return r.root.MkdirAll(entry.Name, executable)
	case backup.Link:
		return r.root.Symlink(entry.Target, entry.Name)
	}
	mode := fs.FileMode(forOwner)
	if entry.IsExecutable {
		mode = executable
	}
	file, err := r.root.OpenFile(entry.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// Switch implements outbound.WorkspaceRestoration.
func (r *restoration) Switch(aside string) (kept string, err error) {
	made := filepath.Join(r.folder.Path, restored)
	if err := partial.Own(made, filepath.Dir(r.in)); err != nil {
		return "", err
	}
	kept = r.in + "." + aside
	switch err := os.Rename(r.in, kept); {
	case errors.Is(err, fs.ErrNotExist):
		kept = ""
	case err != nil:
		return "", err
	}
	if err := os.Rename(made, r.in); err != nil {
		return kept, err
	}
	return kept, partial.SyncFolder(filepath.Dir(r.in))
}

func (r *restoration) Close() error {
	var closing error
	if r.root != nil {
		closing = r.root.Close()
	}
	return errors.Join(closing, r.folder.Drop())
}
