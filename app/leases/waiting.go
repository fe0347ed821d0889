package leases

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"holdco/domain/agent"
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
	once    sync.Once
	closing chan struct{} // closed when the server stops
}

// line are the waiting claims of a company.
type line struct {
	waiters []*waiter
	seen    int64 // the work revision for which they were woken last
}

type waiter struct {
	agent id.Agent
	hash  string    // of its token; empty: Holdco itself waits
	keys  [3]string // see issue.ClaimKeys
	wake  chan struct{}
}

// mostLooks bounds how many claims look at once. It is above what a store does at once.
const mostLooks = 64

func newWaiting(most int) *waiting {
	return &waiting{most: most, of: map[id.Company]*line{}, closing: make(chan struct{})}
}

func (w *waiting) join(by agent.Caller, keys [3]string) (*waiter, error) {
	of := by.Company
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.count >= w.most {
		return nil, fault.New(fault.Unavailable, "Too many claims are waiting; try again later.").After(retryWaiting)
	}
	if w.of[of] == nil {
		w.of[of] = &line{seen: -1}
	}
	joined := &waiter{agent: by.ID, hash: by.Hash, keys: keys, wake: make(chan struct{}, 1)}
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

// see notes that claims that wait for a company are woken for a revision. It reports whether there are any that were not.
func (w *waiting) see(of id.Company, revision int64) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	l := w.of[of]
	if l == nil || l.seen == revision {
		return false
	}
	l.seen = revision
	return true
}

// forget makes the next call of see report true.
func (w *waiting) forget(of id.Company) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if l := w.of[of]; l != nil {
		l.seen = -1
	}
}

// keys are those of the claims that wait for a company.
func (w *waiting) keys(of id.Company) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	l := w.of[of]
	if l == nil {
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

// wake wakes the claims of a company that have waited longest: for each key so many.
func (w *waiting) wake(of id.Company, most map[string]int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	l := w.of[of]
	if l == nil {
		return
	}
	for _, one := range l.waiters {
		fits := slices.IndexFunc(one.keys[:], func(key string) bool { return most[key] > 0 })
		if fits < 0 {
			continue
		}
		most[one.keys[fits]]--
		one.wakeUp()
	}
}

func (w *waiter) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default: // it is about to look
	}
}

// agents are those whose claims wait for a company.
func (w *waiting) agents(of id.Company) (all []id.Agent) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if l := w.of[of]; l != nil {
		for _, one := range l.waiters {
			all = append(all, one.agent)
		}
	}
	return all
}

// refuse wakes the claims of a company whose tokens have none of some hashes, so that they are refused.
func (w *waiting) refuse(of id.Company, hashes map[id.Agent]string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if l := w.of[of]; l != nil {
		for _, one := range l.waiters {
			if one.hash != "" && hashes[one.agent] != one.hash {
				one.wakeUp()
			}
		}
	}
}

// Woken receives a value when issues may have become claimable, which is when Wake has something to do.
func (s *Service) Woken() <-chan struct{} { return s.raised }

// Wake wakes waiting claims of companies in which issues have become claimable: for each issue one, and one more. A company for which
// that fails is woken by the next call, and holds up no other.
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
		if !s.waiting.see(company, revisions[company]) {
			continue
		}
		if err := s.wake(ctx, company, func(issues int) int { return issues + 1 }); err != nil {
			s.waiting.forget(company)
			failures = append(failures, err)
		}
	}
	return false, errors.Join(failures...)
}

// WakeAll wakes all waiting claims for which there are claimable issues, and all calls that wait and are refused by now. Those that Wake
// woke may have been unable to take an issue, and others may have become able to since: their agents have fewer leases.
func (s *Service) WakeAll(ctx context.Context) (more bool, err error) {
	var failures []error
	for _, company := range s.waiting.companies() {
		failures = append(failures, s.wake(ctx, company, func(int) int { return math.MaxInt }))
		hashes, err := s.store.Agents().Hashes(ctx, s.waiting.agents(company))
		if err == nil {
			s.waiting.refuse(company, hashes)
		}
		failures = append(failures, err)
	}
	if asking := s.deciding.agents(); len(asking) > 0 {
		hashes, err := s.store.Agents().Hashes(ctx, asking)
		if err == nil {
			s.deciding.refuse(hashes)
		}
		failures = append(failures, err)
	}
	return false, errors.Join(failures...)
}

// wake wakes claims that wait for a company, as many as most returns for the number of issues under a key.
func (s *Service) wake(ctx context.Context, of id.Company, most func(issues int) int) error {
	claimable, err := s.store.Issues().ClaimableKeys(ctx, of, s.waiting.keys(of))
	if err != nil {
		return err
	}
	for key, issues := range claimable {
		claimable[key] = most(issues)
	}
	s.waiting.wake(of, claimable)
	return nil
}

// Close ends the wait of all claims: they return without an issue.
func (s *Service) Close() { s.waiting.once.Do(func() { close(s.waiting.closing) }) }

// Waiting is how many claims wait.
func (s *Service) Waiting() int {
	s.waiting.mutex.Lock()
	defer s.waiting.mutex.Unlock()
	return s.waiting.count
}
