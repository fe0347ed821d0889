package cache

import (
	"maps"
	"sync"
	"time"

	"holdco/domain/id"
)

// LastUses buffers when tokens or keys were last used until Flush writes it, so that a use costs no write. The zero
// value is ready.
type LastUses[I id.ID] struct {
	mutex sync.Mutex
	at    map[I]time.Time
}

// Note records a use in memory.
func (u *LastUses[I]) Note(which I, at time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.at == nil {
		u.at = map[I]time.Time{}
	}
	u.at[which] = at
}

// Flush calls write with the uses since the last Flush, unless there are none. If write fails, they are kept for the
// next Flush.
func (u *LastUses[I]) Flush(write func(used map[I]time.Time) error) error {
	used := u.take()
	if len(used) == 0 {
		return nil
	}
	err := write(used)
	if err != nil {
		u.putBack(used)
	}
	return err
}

func (u *LastUses[I]) take() map[I]time.Time {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	taken := u.at
	u.at = nil
	return taken
}

// putBack keeps what could not be written, except where there was a later use.
func (u *LastUses[I]) putBack(used map[I]time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	maps.Copy(used, u.at)
	u.at = used
}
