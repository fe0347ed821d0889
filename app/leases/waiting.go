package leases

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// retryWaiting is when to come back when too many wait.
const retryWaiting = 5 * time.Second

// waiting are the claims that wait for issues, in the order in which they came.
type waiting struct {
	most    int // of them
	mutex   sync.Mutex
	of      map[id.Company]*line
	count   int
	joined  int // how many have ever waited
	once    sync.Once
	closing chan struct{} // closed when the server stops
}

// line are the waiting claims of a company.
type line struct {
	waiters []*waiter
	seen    int64 // the work revision for which they were woken last
}

type waiter struct {
	keys       [3]string // see issue.ClaimKeys
	wake       chan struct{}
	looksEvery time.Duration // for what time alone makes claimable
}

// Waiting claims look every 4 to 6 seconds, each at another pace, so that they do not look all at once.
const (
	leastLook = 4 * time.Second
	lookRange = 2 * time.Second
	lookStep  = 617 * time.Millisecond
)

// mostLooks bounds how many claims look at once. It is above what a store does at once.
const mostLooks = 64

func newWaiting(most int) *waiting {
	return &waiting{most: most, of: map[id.Company]*line{}, closing: make(chan struct{})}
}

func (w *waiting) join(of id.Company, keys [3]string) (*waiter, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.count >= w.most {
		return nil, fault.New(fault.Unavailable, "Too many claims are waiting; try again later.").After(retryWaiting)
	}
	if w.of[of] == nil {
		w.of[of] = &line{seen: -1}
	}
	w.joined++
	joined := &waiter{keys: keys, wake: make(chan struct{}, 1), looksEvery: leastLook + time.Duration(w.joined%100)*lookStep%lookRange}
	w.of[of].waiters = append(w.of[of].waiters, joined)
	w.count++
	return joined, nil
}

func (w *waiting) leave(of id.Company, gone *waiter) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	l := w.of[of]
	l.waiters = slices.DeleteFunc(l.waiters, func(one *waiter) bool { return one == gone })
	w.count--
	if len(l.waiters) == 0 {
		delete(w.of, of)
	}
}

// companies are those for which claims wait.
func (w *waiting) companies() []id.Company {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	of := make([]id.Company, 0, len(w.of))
	for company := range w.of {
		of = append(of, company)
	}
	return of
}

// keys are those of the claims that wait for a company, unless they were woken for its revision.
func (w *waiting) keys(of id.Company, revision int64) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	l := w.of[of]
	if l == nil || l.seen == revision {
		return nil
	}
	distinct := map[string]bool{}
	var keys []string
	for _, one := range l.waiters {
		for _, key := range one.keys {
			if !distinct[key] {
				distinct[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// wake wakes the claims that have waited longest, for a revision: for each key one per claimable issue, and one more.
func (w *waiting) wake(of id.Company, revision int64, claimable map[string]int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	l := w.of[of]
	if l == nil {
		return
	}
	l.seen = revision
	for key := range claimable {
		claimable[key]++
	}
	for _, one := range l.waiters {
		fits := slices.IndexFunc(one.keys[:], func(key string) bool { return claimable[key] > 0 })
		if fits < 0 {
			continue
		}
		claimable[one.keys[fits]]--
		select {
		case one.wake <- struct{}{}:
		default: // it is about to look
		}
	}
}

// Woken receives a value when issues may have become claimable, which is when Wake has something to do.
func (s *Service) Woken() <-chan struct{} { return s.raised }

// Wake wakes waiting claims of companies in which issues have become claimable. A company for which that fails is woken by the next
// call, and holds up no other.
func (s *Service) Wake(ctx context.Context) (more bool, err error) {
	of := s.waiting.companies()
	if len(of) == 0 {
		return false, nil
	}
	revisions, err := s.store.Issues().Revisions(ctx, of)
	if err != nil {
		return false, err
	}
	var failures []error
	for _, company := range of {
		keys := s.waiting.keys(company, revisions[company])
		if len(keys) == 0 {
			continue
		}
		claimable, err := s.store.Issues().ClaimableKeys(ctx, company, keys)
		if err == nil {
			s.waiting.wake(company, revisions[company], claimable)
		}
		failures = append(failures, err)
	}
	return false, errors.Join(failures...)
}

// Close ends the wait of all claims: they return without an issue.
func (s *Service) Close() { s.waiting.once.Do(func() { close(s.waiting.closing) }) }

// Waiting is how many claims wait.
func (s *Service) Waiting() int {
	s.waiting.mutex.Lock()
	defer s.waiting.mutex.Unlock()
	return s.waiting.count
}
