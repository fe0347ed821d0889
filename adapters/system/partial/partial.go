// Package partial writes files that get their names when they are complete. What a crash leaves of one is removed by the next that is
// written to its folder.
package partial

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"holdco/adapters/system"
)

// mark is in the names of all partial files: .NAME.partial-<16 hexadecimal digits>.
const mark = ".partial-"

// File is a file that has no name yet. Others know by a lock that it is being written, which ends with its process. Its path is one
// beside its name; what is to be written with other means than Write is written there.
type File struct {
	*os.File
	lock *flock.Flock
	ends bool // it was named or dropped
}

// Create makes a partial file in the folder of a name, readable by its owner alone, and removes what others have left there.
func Create(name string) (*File, error) {
	folder := filepath.Dir(name)
	var file *os.File
	lock, err := create(folder, name, func(path string) (err error) {
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	}, func() { _ = file.Close() })
	return &File{File: file, lock: lock}, err
}

// create makes something by begin in a folder, and locks it; undo takes that back.
func create(folder, name string, begin func(path string) error, undo func()) (*flock.Flock, error) {
	if err := Clean(folder); err != nil {
		return nil, err
	}
	for range 10 {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it never fails
		path := filepath.Join(folder, "."+filepath.Base(name)+mark+hex.EncodeToString(random[:]))
		if err := begin(path); err != nil {
			return nil, err
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
		locked, err := lock.TryLock()
		if _, gone := os.Stat(path); locked && gone == nil {
			return lock, nil
		}
		undo()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		// Another process took what is new for what was left, in the moment before it was locked.
	}
	return nil, fmt.Errorf("make a file in %s: other processes kept removing it", folder)
}

// Folder is a folder in which something is made, with the means of File.
type Folder struct {
	Path string
	lock *flock.Flock
}

// CreateFolder makes a partial folder beside a name.
func CreateFolder(name string) (*Folder, error) {
	folder := &Folder{}
	var err error
	folder.lock, err = create(filepath.Dir(name), name, func(path string) error {
		folder.Path = path
		return os.Mkdir(path, 0o700)
	}, func() {})
	return folder, err
}

// Drop removes the folder with what is left in it. A second call does nothing.
func (f *Folder) Drop() error {
	if f.lock == nil {
		return nil
	}
	err := errors.Join(os.RemoveAll(f.Path), f.lock.Unlock())
	f.lock = nil
	return err
}

// Clean removes the partial files in a folder that nobody is writing.
func Clean(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !isPartial(entry.Name()) || !entry.Type().IsRegular() && !entry.IsDir() {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
		if locked, err := lock.TryLock(); err != nil || !locked {
			continue // it is being written, gone, or another user's
		}
		_ = os.RemoveAll(path)
		_ = lock.Unlock()
	}
	return nil
}

// isPartial reports whether a file has the name of a partial one.
func isPartial(name string) bool {
	at := strings.LastIndex(name, mark)
	if at < 1 || name[0] != '.' {
		return false
	}
	_, err := hex.DecodeString(name[at+len(mark):])
	return err == nil && len(name) == at+len(mark)+16
}

// Keep makes the file durable and gives it its name, which is durable then too. Unless it replaces, it fails with fs.ErrExist if there is
// a file of that name.
func (f *File) Keep(name string, replaces bool) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if replaces {
		if err := os.Rename(f.Name(), name); err != nil {
			return err
		}
	} else if err := rename(f.Name(), name, os.Link); err != nil {
		return err
	}
	f.ends = true
	return SyncFolder(filepath.Dir(name))
}

// rename gives a file a name that no other has. Unlike a rename, a link fails if somebody has made such a file meanwhile; there are file
// systems without links, where this looks before it renames.
func rename(from, to string, link func(from, to string) error) error {
	err := link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, found := os.Lstat(to); !errors.Is(found, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, found)
	}
	return os.Rename(from, to)
}

// Drop removes the file, unless it was kept, and closes it. A second call does nothing.
func (f *File) Drop() error {
	if f.lock == nil {
		return nil
	}
	var removal error
	if !f.ends {
		removal = os.Remove(f.Name())
	}
	closing := f.Close()
	if errors.Is(closing, os.ErrClosed) {
		closing = nil
	}
	err := errors.Join(removal, closing, f.lock.Unlock())
	f.lock = nil
	return err
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(folder string) error {
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.Sync()
}

// Free returns how many bytes this user can write in a folder, and reports whether that is known.
func Free(folder string) (bytes int64, isKnown bool, err error) {
	room, err := system.Disk{}.Room(folder)
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, false, nil
	}
	return room.Free, err == nil, err
}
