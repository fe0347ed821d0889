package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Memory is the path of a database that is on no disk and ends with its engine.
//
// SQLite's own in-memory databases have no snapshots: readers and the writer block each other. This one is a file in
// /dev/shm, or among the temporary files where there is no such folder.
const Memory = ":memory:"

// openMemory makes a folder for a database that is removed with the engine. The folder of a process that was killed is
// removed by the next one.
func (e *Engine) openMemory(image []byte) (Options, error) {
	parent := "/dev/shm"
	if found, err := os.Stat(parent); err != nil || !found.IsDir() {
		parent = os.TempDir()
	}
	removeAbandoned(parent)
	for range 10 {
		folder, err := os.MkdirTemp(parent, memoryFolders)
		if err != nil {
			return Options{}, err
		}
		lock := folderLock(folder)
		locked, err := lock.TryLock()
		if _, gone := os.Stat(folder); locked && gone == nil {
			e.onClose(func() error { return errors.Join(os.RemoveAll(folder), lock.Unlock()) })
			path := filepath.Join(folder, "holdco.db")
			return Options{Path: path, Synchronous: off}, os.WriteFile(path, image, 0o600)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return Options{}, errors.Join(err, os.RemoveAll(folder))
		}
		// Another process took the new folder for an abandoned one, in the moment before it was locked.
	}
	return Options{}, errors.New("make a folder in memory: other processes kept removing it")
}

const memoryFolders = "holdco-memory-*"

func removeAbandoned(parent string) {
	folders, err := filepath.Glob(filepath.Join(parent, memoryFolders))
	if err != nil {
		return
	}
	for _, folder := range folders {
		lock := folderLock(folder)
		if locked, err := lock.TryLock(); err != nil || !locked {
			continue // in use, or another user's
		}
		_ = os.RemoveAll(folder)
		_ = lock.Unlock()
	}
}

// folderLock is the lock on a folder. The system drops it when its process ends.
func folderLock(folder string) *flock.Flock { return flock.New(folder, flock.SetFlag(os.O_RDONLY)) }
