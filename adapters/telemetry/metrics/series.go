package metrics

import (
	"maps"
	"sync"
	"sync/atomic"
)

// series caches series by what they count. Prometheus finds a series by the strings of its labels, which costs more than
// counting; here it is a lookup in a map that is copied on write.
type series[K comparable, S any] struct {
	maker  func(of K) S
	byKey  atomic.Pointer[map[K]S]
	making sync.Mutex
}

func newSeries[K comparable, S any](maker func(of K) S) *series[K, S] {
	s := &series[K, S]{maker: maker}
	s.byKey.Store(&map[K]S{})
	return s
}

func (s *series[K, S]) of(key K) S {
	if found, ok := (*s.byKey.Load())[key]; ok {
		return found
	}
	s.making.Lock()
	defer s.making.Unlock()
	next := maps.Clone(*s.byKey.Load())
	next[key] = s.maker(key) // the same as before, if another was faster
	s.byKey.Store(&next)
	return next[key]
}
