package store

import (
	"sync"
	"time"
)

// Freshness is how long Known believes what a store said. What changes elsewhere, in another process, is seen here after
// that time at the latest; what changes here, at once.
const Freshness = 500 * time.Millisecond

// mostKnown bounds what is remembered.
const mostKnown = 1000

// Known remembers what was looked up a moment ago, so that not every request costs a read. The zero value knows nothing.
type Known[T any] struct {
	mutex    sync.Mutex
	revision int
	lookups  map[string]lookup[T]
}

// lookup is what the store said.
type lookup[T any] struct {
	said T
	at   time.Time // before the store was asked
}

// Find returns what is known under a key, or what ask says, which asks the store. Errors are not remembered.
func (k *Known[T]) Find(key string, now time.Time, ask func() (T, error)) (T, error) {
	seen, found, revision := k.recall(key, now)
	if found {
		return seen, nil
	}
	said, err := ask()
	if err == nil {
		k.keep(key, lookup[T]{said, now}, revision)
	}
	return said, err
}

// Forget is called when a change of what is looked up has ended, however it ended.
func (k *Known[T]) Forget() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.revision++
	k.lookups = nil
}

// recall returns what is known under a key, unless the store has to be asked. Then revision says when that began.
func (k *Known[T]) recall(key string, now time.Time) (said T, found bool, revision int) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	seen, found := k.lookups[key]
	if !found || now.Before(seen.at) || !now.Before(seen.at.Add(Freshness)) { // before: the clock was set back
		return said, false, k.revision
	}
	return seen.said, true, k.revision
}

// keep remembers what the store said, unless something has changed since it was asked: then that may be out of date.
func (k *Known[T]) keep(key string, seen lookup[T], revision int) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if revision != k.revision {
		return
	}
	if k.lookups == nil || len(k.lookups) >= mostKnown {
		k.lookups = map[string]lookup[T]{}
	}
	k.lookups[key] = seen
}
