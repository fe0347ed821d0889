package leases

import (
	"context"
	"sync"

	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// deciding are the calls that wait for approvals to be decided.
type deciding struct {
	most   int // of them
	mutex  sync.Mutex
	calls  map[*decision]struct{}
	seen   map[id.Company]int64 // the work revision at which their approvals were looked at last
	raised chan struct{}        // see store.Store.Raised
}

// decision is what one call waits for.
type decision struct {
	company id.Company
	of      id.Approval
	agent   id.Agent
	hash    string // of its token; empty: a token of another kind
	wake    chan struct{}
}

func newDeciding(most int) *deciding {
	return &deciding{
		most: most, calls: map[*decision]struct{}{}, seen: map[id.Company]int64{}, raised: make(chan struct{}, 1),
	}
}

func (d *deciding) join(by agent.Caller, of id.Approval) (*decision, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if len(d.calls) >= d.most {
		return nil, fault.New(fault.Unavailable, "Too many calls wait for approvals; try again later.").After(retryWaiting)
	}
	joined := &decision{by.Company, of, by.ID, "", make(chan struct{}, 1)}
	if by.Lease == "" {
		joined.hash = by.Hash
	}
	d.calls[joined] = struct{}{}
	return joined, nil
}

func (d *deciding) leave(gone *decision) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.calls, gone)
}

// companies are those for whose approvals calls wait. What has been seen of others is forgotten.
func (d *deciding) companies() (of []id.Company) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	seen := map[id.Company]int64{}
	for one := range d.calls {
		if _, has := seen[one.company]; !has {
			before, was := d.seen[one.company]
			if !was {
				before = -1
			}
			seen[one.company] = before
			of = append(of, one.company)
		}
	}
	d.seen = seen
	return of
}

// changed returns the approvals for which calls wait in companies that have other work revisions than when they were seen last.
func (d *deciding) changed(revisions map[id.Company]int64) (which []id.Approval) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for one := range d.calls {
		if seen, isKnown := d.seen[one.company]; isKnown && seen != revisions[one.company] {
			which = append(which, one.of)
		}
	}
	return which
}

// wake wakes the calls that wait for approvals that were looked at, but for those that are pending, and notes the revisions.
func (d *deciding) wake(looked, pending []id.Approval, revisions map[id.Company]int64) {
	decided := map[id.Approval]bool{}
	for _, which := range looked {
		decided[which] = true
	}
	for _, which := range pending {
		delete(decided, which)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for one := range d.calls {
		if decided[one.of] {
			one.wakeUp()
		}
	}
	for company := range d.seen {
		d.seen[company] = revisions[company]
	}
}

func (d *decision) wakeUp() {
	select {
	case d.wake <- struct{}{}:
	default: // it is about to look
	}
}

// agents are those that wait with a token of their own.
func (d *deciding) agents() (all []id.Agent) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for one := range d.calls {
		if one.hash != "" {
			all = append(all, one.agent)
		}
	}
	return all
}

// refuse wakes the calls whose tokens have none of some hashes, so that they are refused.
func (d *deciding) refuse(hashes map[id.Agent]string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for one := range d.calls {
		if one.hash != "" && hashes[one.agent] != one.hash {
			one.wakeUp()
		}
	}
}

// Decided receives a value when approvals may have been decided, which is when WakeDecided has something to do.
func (s *Service) Decided() <-chan struct{} { return s.deciding.raised }

// WakeDecided wakes the calls whose approvals are no longer pending. It looks at these when the work revision of the company has been
// raised, as every decision does.
func (s *Service) WakeDecided(ctx context.Context) (more bool, err error) {
	of := s.deciding.companies()
	if len(of) == 0 {
		return false, nil
	}
	revisions, err := s.store.Issues().Revisions(ctx, of)
	if err != nil {
		return false, err
	}
	looked := s.deciding.changed(revisions)
	if len(looked) == 0 {
		return false, nil
	}
	pending, err := s.store.Approvals().Pending(ctx, looked)
	if err != nil {
		return false, err
	}
	s.deciding.wake(looked, pending, revisions)
	return false, nil
}

// Deciding is how many calls wait for approvals.
func (s *Service) Deciding() int {
	s.deciding.mutex.Lock()
	defer s.deciding.mutex.Unlock()
	return len(s.deciding.calls)
}
