package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// TTL is how long a cached value is used. A change made by another process is seen after that time at the latest, a
// change made by this process at once.
const TTL = 500 * time.Millisecond

// maxEntries bounds the memory of a cache. A full cache is emptied.
const maxEntries = 1000

// Cache caches loaded values for TTL, or as long as For says. When several callers miss the same key at the same time, one loads
// the value and the others wait for it. The zero value is empty.
type Cache[T any] struct {
	life    time.Duration // zero: TTL
	mutex   sync.Mutex
	entries map[string]entry[T]
	loads   map[string]*call[T] // in progress, since the last Invalidate
}

// For returns an empty cache that uses a value for some time.
func For[T any](life time.Duration) *Cache[T] { return &Cache[T]{life: life} }

type entry[T any] struct {
	value T
	at    time.Time // when loading began
}

// call is a load in progress.
type call[T any] struct {
	began time.Time
	done  chan struct{} // closed when value and err are set
	value T
	err   error
}

// errAbandoned is the error of a load whose caller did not finish it: it panicked, or its context ended.
var errAbandoned = errors.New("the load was abandoned")

// Get returns the value cached under a key, or else the result of load. Errors are not cached. When ctx ends, only this
// caller stops: if it was loading the value, one of those who waited for it loads it again.
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

// Invalidate empties the cache. Call it after every change of what is loaded, even a failed one: it may have been
// committed.
func (c *Cache[T]) Invalidate() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.entries, c.loads = nil, nil // a load that began before is neither cached nor joined
}

// find returns the value cached under a key, or else the call that loads it. If the call is new (runs), the caller has
// to run it.
func (c *Cache[T]) find(key string, now time.Time) (value T, found bool, pending *call[T], runs bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if cached, ok := c.entries[key]; ok && c.isFresh(cached.at, now) {
		return cached.value, true, nil, false
	}
	if pending := c.loads[key]; pending != nil && c.isFresh(pending.began, now) {
		return value, false, pending, false
	}
	pending = &call[T]{began: now, done: make(chan struct{}), err: errAbandoned}
	if c.loads == nil {
		c.loads = map[string]*call[T]{}
	}
	c.loads[key] = pending
	return value, false, pending, true
}

// isFresh reports whether a value loaded at an instant can still be used. It cannot when the clock was set back.
func (c *Cache[T]) isFresh(at, now time.Time) bool {
	life := c.life
	if life == 0 {
		life = TTL
	}
	return !now.Before(at) && now.Before(at.Add(life))
}

func (c *Cache[T]) run(ctx context.Context, key string, pending *call[T], load func() (T, error)) (T, error) {
	defer func() { // after a panic too
		c.end(key, pending)
		close(pending.done)
	}()
	value, err := load()
	if err == nil || ctx.Err() == nil { // otherwise the context of this caller ended, which says nothing to the others
		pending.value, pending.err = value, err
	}
	return value, err
}

// end caches the loaded value, unless loading failed or the cache was invalidated meanwhile.
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
