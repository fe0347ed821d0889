package partners

import (
	"maps"
	"slices"
	"sync"

	"holdco/domain/id"
	"holdco/domain/partner"
)

// usage gathers what keys were used for until it is written, so that a request costs no write. The zero value is ready.
type usage struct {
	mutex sync.Mutex
	of    map[id.Partner]partner.Usage
}

func (u *usage) note(which id.Partner, more partner.Usage) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.of == nil {
		u.of = map[id.Partner]partner.Usage{}
	}
	u.of[which] = u.of[which].Plus(more)
}

// mostPerWrite is how many partners one call of write gets: it is to be a unit of work, and these are short.
const mostPerWrite = 100

// flush calls write with what was noted since the last flush, a part of it at a time. What could not be written is noted again.
func (u *usage) flush(write func(used map[id.Partner]partner.Usage) error) error {
	u.mutex.Lock()
	taken := u.of
	u.of = nil
	u.mutex.Unlock()
	for part := range slices.Chunk(slices.Sorted(maps.Keys(taken)), mostPerWrite) {
		now := make(map[id.Partner]partner.Usage, len(part))
		for _, which := range part {
			now[which] = taken[which]
		}
		if err := write(now); err != nil {
			for which, more := range taken {
				u.note(which, more)
			}
			return err
		}
		maps.DeleteFunc(taken, func(which id.Partner, _ partner.Usage) bool { _, written := now[which]; return written })
	}
	return nil
}
