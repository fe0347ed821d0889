package programs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"holdco/domain/id"
)

// holder is the directory in which a process notes what it starts, so that another finds it after a crash:
//
//	<holders>/lock           is locked while a holder is made, forgotten, or looked at
//	<holders>/<name>/lock    is locked while the process lives; programs do not inherit the lock
//	<holders>/<name>/host    where the process runs
//	<holders>/<name>/<run>   a program: written before it is started and again with its process, removed when it has ended
//
// A directory with a lock that nobody holds is of a process that has ended.
type holder struct {
	all  string // the directory of all holders
	name string

	mu        sync.Mutex
	lock      *flock.Flock // nil: the directory is not made yet
	closed    bool
	forgotten bool // see Programs.Forget
}

const (
	lockFile = "lock"
	hostFile = "host"

	nameLength = 26 // that of rand.Text
	nameDigits = "abcdefghijklmnopqrstuvwxyz234567"
)

// note is what is noted of a program: its process, by what no other has in common with it.
type note struct {
	Boot    string // of the system
	PID     int    // 0: it is not started yet
	Started string // see startOf
}

// host is where a process runs. Of two containers on one host, and of one host before and after a restart, one differs.
type host struct{ Machine, Boot string }

// Holder implements outbound.Programs. The directory is made here, so that what the caller does under the name is found after
// a crash; if that fails, Start will say so.
func (p *Programs) Holder() string {
	p.holder.mu.Lock()
	defer p.holder.mu.Unlock()
	_ = p.holder.make()
	return p.holder.name
}

// Ended implements outbound.Programs.
func (p *Programs) Ended() ([]string, error) {
	locks, err := p.holder.lockEnded()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(locks)) {
		notes, failure := p.holder.notes(name)
		killNoted(notes)
		if err = errors.Join(err, failure, locks[name].Unlock()); failure == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// Forget implements outbound.Programs.
func (p *Programs) Forget(name string) error {
	if !isName(name) {
		return refuse(nil, "%q is not the name of a process", name)
	}
	if name == p.holder.name {
		p.holder.mu.Lock()
		defer p.holder.mu.Unlock()
		p.holder.forgotten = true
		return nil
	}
	if _, err := os.Stat(p.holder.path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return p.holder.alone(func() error {
		lock := flock.New(p.holder.path(name, lockFile))
		locked, err := lock.TryLock()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !locked {
			return refuse(nil, "The process %s has not ended", name)
		}
		return errors.Join(lock.Unlock(), os.RemoveAll(p.holder.path(name)))
	})
}

func (h *holder) path(parts ...string) string {
	return filepath.Join(append([]string{h.all}, parts...)...)
}

// alone does something while no other process does.
func (h *holder) alone(do func() error) error {
	if err := os.MkdirAll(h.all, private); err != nil {
		return err
	}
	lock := flock.New(h.path(lockFile))
	if err := lock.Lock(); err != nil {
		return err
	}
	return errors.Join(do(), lock.Unlock())
}

// make makes the directory, unless it is there.
func (h *holder) make() error {
	if h.closed {
		return errors.New("this process is ending")
	}
	if h.lock != nil {
		return nil
	}
	return h.alone(func() error {
		here, err := json.Marshal(thisHost())
		if err != nil {
			return err
		}
		if err := os.Mkdir(h.path(h.name), private); err != nil {
			return err
		}
		lock := flock.New(h.path(h.name, lockFile))
		locked, err := lock.TryLock()
		if err == nil && !locked {
			err = errors.New("another process has locked " + lock.Path())
		}
		if err == nil {
			err = os.WriteFile(h.path(h.name, hostFile), here, privateFile)
		}
		if err != nil {
			return errors.Join(err, lock.Unlock(), os.RemoveAll(h.path(h.name)))
		}
		h.lock = lock
		return nil
	})
}

func (h *holder) note(run id.Run, n note) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.make(); err != nil {
		return err
	}
	content, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return os.WriteFile(h.path(h.name, string(run)), content, privateFile)
}

// forget removes a note. If that fails, the program is looked for once more after the end of this process.
func (h *holder) forget(run id.Run) { _ = os.Remove(h.path(h.name, string(run))) }

func (h *holder) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.lock == nil {
		return nil
	}
	lock := h.lock
	h.lock = nil
	return h.alone(func() error {
		notes, err := h.notes(h.name)
		err = errors.Join(err, lock.Unlock())
		if err == nil && h.forgotten && len(notes) == 0 {
			err = os.RemoveAll(h.path(h.name))
		}
		return err
	})
}

// lockEnded locks the directories of processes on this host that have ended, and returns the locks by their names.
func (h *holder) lockEnded() (map[string]*flock.Flock, error) {
	if _, err := os.Stat(h.all); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	locks := map[string]*flock.Flock{}
	err := h.alone(func() error {
		entries, err := os.ReadDir(h.all)
		for _, entry := range entries {
			if !entry.IsDir() || !isName(entry.Name()) || entry.Name() == h.name || !h.here(entry.Name()) {
				continue
			}
			lock := flock.New(h.path(entry.Name(), lockFile))
			locked, failure := lock.TryLock()
			if err = errors.Join(err, failure); locked {
				locks[entry.Name()] = lock
			}
		}
		return err
	})
	return locks, err
}

// here reports whether a holder is or was on this host. One that was killed before it noted its host has started nothing.
func (h *holder) here(name string) bool {
	var noted host
	content, err := os.ReadFile(h.path(name, hostFile))
	if err != nil || json.Unmarshal(content, &noted) != nil {
		return true
	}
	this := thisHost()
	return noted.Machine == this.Machine || noted.Boot == this.Boot && this.Boot != ""
}

// notes returns what a holder has noted. A note that was cut short by a crash has the run alone.
func (h *holder) notes(name string) (map[id.Run]note, error) {
	entries, err := os.ReadDir(h.path(name))
	if err != nil {
		return nil, err
	}
	notes := map[id.Run]note{}
	for _, entry := range entries {
		run, ok := id.Parse[id.Run](entry.Name())
		if !ok {
			continue
		}
		content, err := os.ReadFile(h.path(name, entry.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		var n note
		if json.Unmarshal(content, &n) != nil {
			n = note{}
		}
		notes[run] = n
	}
	return notes, nil
}

func isName(name string) bool { return len(name) == nameLength && strings.Trim(name, nameDigits) == "" }

func thisHost() host {
	machine, err := os.ReadFile("/etc/machine-id")
	name := strings.TrimSpace(string(machine))
	if err != nil || name == "" {
		name, _ = os.Hostname()
	}
	return host{name, bootID()}
}
