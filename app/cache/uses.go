package cache

import (
	"maps"
	"slices"
	"sync"
	"time"

	"holdco/domain/id"
)

// LastUses buffers when tokens or keys were last used, or agents last called, until Flush writes it, so that a use costs no
// write. The zero value is ready.
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

// mostPerWrite is how many uses one call of write gets: it is to be a unit of work, and these are short.
const mostPerWrite = 100

// Flush calls write with the uses since the last Flush, a part of them at a time. If a write fails, what is not written is kept
// for the next Flush.
func (u *LastUses[I]) Flush(write func(used map[I]time.Time) error) error {
	used := u.take()
	for part := range slices.Chunk(slices.Sorted(maps.Keys(used)), mostPerWrite) {
		now := make(map[I]time.Time, len(part))
		for _, which := range part {
			now[which] = used[which]
		}
		if err := write(now); err != nil {
			u.putBack(used)
			return err
		}
		maps.DeleteFunc(used, func(which I, _ time.Time) bool { _, written := now[which]; return written })
	}
	return nil
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
