package sqlite

import (
	"errors"
	"os"
	"time"
)

// fileLocks make the processes that write to one file wait for each other in order. SQLite alone is not fair: a process that
// waits polls its lock up to a tenth of a second apart, and one that writes batch after batch starves it.
//
// There are two file locks, which the system releases when their process ends. A writer locks the first, then the second,
// unlocks the first, writes, and unlocks the second. The one that waits for the second is the next to write: to overtake it
// takes the first. The locks are advisory: a process that does not take them can write too.
type fileLocks struct {
	first, second *os.File // nil: there is no other process
}

const (
	// lockPause is the interval at which a waiting process polls.
	lockPause = time.Millisecond

	// lockTimeout is how long it waits. A process that keeps them for longer is stuck, and may not even be writing.
	lockTimeout = time.Second
)

// openFileLocks opens the locks of a file, which are files beside it.
func openFileLocks(path string) (t fileLocks, err error) {
	if t.first, err = os.OpenFile(path+".next", os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		t.second, err = os.OpenFile(path+".writing", os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return fileLocks{}, errors.Join(err, t.close())
	}
	return t, nil
}

// take waits for the locks, or until lockTimeout, and returns what unlocks them.
func (t fileLocks) take() (end func()) {
	if t.first == nil {
		return func() {}
	}
	until := time.Now().Add(lockTimeout)
	first := wait(t.first, until)
	second := wait(t.second, until)
	if first {
		unlockFile(t.first)
	}
	return func() {
		if second {
			unlockFile(t.second)
		}
	}
}

// wait reports whether it got a lock in time.
func wait(lock *os.File, until time.Time) bool {
	for {
		locked, err := tryLockFile(lock)
		if locked || err != nil || time.Now().After(until) {
			return locked
		}
		time.Sleep(lockPause)
	}
}

// close may be called twice, as Engine.Close may.
func (t fileLocks) close() error {
	var failures []error
	for _, file := range []*os.File{t.first, t.second} {
		if file == nil {
			continue
		}
		if err := file.Close(); !errors.Is(err, os.ErrClosed) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
