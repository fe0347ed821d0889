package sqlite

import (
	"errors"
	"os"
	"time"
)

// turns are how processes that write to one file take turns. SQLite alone lets a process that waits look now and then
// whether it can write, with pauses of up to a tenth of a second, and one that writes batch after batch keeps it out.
//
// There are two locks, which the system drops when their process ends. A writer takes the first, then the second, gives
// the first back, writes, and gives the second back. The one that waits for the second is the next to write: nobody can
// get ahead of it, for that needs the first. Turns are a courtesy: they keep nobody from writing who does not ask for one.
type turns struct {
	first, second *os.File // nil: there is no other process
}

const (
	// turnPause is how long a process that waits pauses before it looks again.
	turnPause = time.Millisecond

	// turnTimeout is how long it waits: who has a turn for longer is stuck, and may not even write.
	turnTimeout = time.Second
)

// openTurns opens the locks of a file, which are files beside it.
func openTurns(path string) (t turns, err error) {
	if t.first, err = os.OpenFile(path+".next", os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		t.second, err = os.OpenFile(path+".writing", os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return turns{}, errors.Join(err, t.close())
	}
	return t, nil
}

// take waits for a turn, or until turnTimeout, and returns what ends the turn.
func (t turns) take() (end func()) {
	if t.first == nil {
		return func() {}
	}
	until := time.Now().Add(turnTimeout)
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
		time.Sleep(turnPause)
	}
}

// close may be called twice, as Engine.Close may.
func (t turns) close() error {
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
