package storetest

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is a clock that stands until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that stands at some instant.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, time.April, 11, 10, 42, 17, 123_000_000, time.UTC)}
}

// Now returns the instant at which the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// IDs counts, so that ids are the same in every run.
type IDs struct{ last atomic.Uint64 }

// NewIDs starts to count.
func NewIDs() *IDs { return &IDs{} }

// UUIDv7 returns the bytes of the next id, each greater than the one before.
func (i *IDs) UUIDv7() [16]byte {
	const version7, variant = 0x70, 1 << 63
	uuid := [16]byte{6: version7}
	binary.BigEndian.PutUint64(uuid[8:], variant|i.last.Add(1))
	return uuid
}
