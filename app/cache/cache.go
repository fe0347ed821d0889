package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// TTL is how long a Cache believes what was loaded. What changes elsewhere, in another process, is seen here after that
// time at the latest; what changes here, at once.
const TTL = 500 * time.Millisecond

// maxEntries bounds what is cached.
const maxEntries = 1000

// Cache holds what was loaded a moment ago. Of those who miss the same key at once, one loads it and the others wait. The
// zero value is empty.
type Cache[T any] struct {
	mutex   sync.Mutex
	entries map[string]entry[T]
	loads   map[string]*call[T] // under way, since the last Invalidate
}

type entry[T any] struct {
	value T
	at    time.Time // when loading began
}

// call is a load under way.
type call[T any] struct {
	began time.Time
	done  chan struct{} // closed when value and err are set
	value T
	err   error
}

// errAbandoned is how a load ends for those who wait when who runs it does not end it: it panics, or leaves.
var errAbandoned = errors.New("the load was abandoned")

// Get returns what is cached under a key, or what load returns. Errors are not cached. When ctx ends, that ends the wait
// or the load of this caller alone: one of those who waited for it loads again.
func (c *Cache[T]) Get(ctx context.Context, key string, now time.Time, load func() (T, error)) (T, error) {
	for {
		cached, found, pending, runs := c.find(key, now)
		switch {
		case found:
			return cached, nil
		case runs:
			return c.run(ctx, key, pending, load)
		}
		select {
		case <-pending.done:
		case <-ctx.Done():
			return cached, ctx.Err()
		}
		if !errors.Is(pending.err, errAbandoned) {
			return pending.value, pending.err
		}
	}
}

// Invalidate is called when a change of what is loaded has ended, however it ended.
func (c *Cache[T]) Invalidate() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.entries, c.loads = nil, nil // a load that began before is neither kept nor joined any more
}

// find returns what is cached under a key, or else the call that loads it, which the caller has to run if it is a new one.
func (c *Cache[T]) find(key string, now time.Time) (value T, found bool, pending *call[T], runs bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if cached, ok := c.entries[key]; ok && isFresh(cached.at, now) {
		return cached.value, true, nil, false
	}
	if pending := c.loads[key]; pending != nil && isFresh(pending.began, now) {
		return value, false, pending, false
	}
	pending = &call[T]{began: now, done: make(chan struct{}), err: errAbandoned}
	if c.loads == nil {
		c.loads = map[string]*call[T]{}
	}
	c.loads[key] = pending
	return value, false, pending, true
}

// isFresh reports whether what was loaded at an instant holds. It does not when the clock was set back.
func isFresh(at, now time.Time) bool { return !now.Before(at) && now.Before(at.Add(TTL)) }

func (c *Cache[T]) run(ctx context.Context, key string, pending *call[T], load func() (T, error)) (T, error) {
	defer func() { // after a panic too
		c.end(key, pending)
		close(pending.done)
	}()
	value, err := load()
	if err == nil || ctx.Err() == nil { // otherwise the caller left, which is no answer for those who wait
		pending.value, pending.err = value, err
	}
	return value, err
}

// end keeps what was loaded, unless it failed or may be out of date.
func (c *Cache[T]) end(key string, pending *call[T]) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.loads[key] != pending {
		return
	}
	delete(c.loads, key)
	if pending.err != nil {
		return
	}
	if c.entries == nil || len(c.entries) >= maxEntries {
		c.entries = map[string]entry[T]{}
	}
	c.entries[key] = entry[T]{pending.value, pending.began}
}
